import { type Message, textOf } from "@banyan/core/conversation";
import { useState } from "react";
import { useConversation } from "../conversation/use-conversation.ts";
import { useShow } from "../conversation/use-view.ts";
import { usePage } from "../page.ts";
import { EditMessage } from "./edit-message.tsx";
import { NameMessage } from "./name-message.tsx";
import { RemoveMessage } from "./remove-message.tsx";
import { RetryAnswer } from "./retry-answer.tsx";
import { SmallButton } from "./small-button.tsx";
import { Versions } from "./versions.tsx";

/** What can be done about a message: its other versions, another answer, another wording, a branch from here. */
export function MessageActions({ message }: { readonly message: Message }) {
  const conversation = useConversation();
  const { connection } = usePage();
  const show = useShow();
  const [open, setOpen] = useState<"edit" | "name" | "retry" | "remove">();
  const close = () => setOpen(undefined);
  const star = () =>
    void connection.ask("message.star", {
      conversation: conversation.id,
      message: message.id,
      starred: !message.starred,
    });
  return (
    <div className="flex flex-wrap items-center gap-1 text-soft text-xs">
      <Versions message={message.id} />
      {message.label !== undefined && <span className="font-medium text-ink">{message.label}</span>}
      {message.starred && <span className="text-warn">★ starred</span>}
      <span
        className={`flex flex-wrap gap-1 focus-within:opacity-100 group-focus-within:opacity-100 group-hover:opacity-100 [@media(hover:none)]:opacity-100 ${open ? "" : "opacity-0"}`}
      >
        <SmallButton name="Continue from here" onClick={() => show(message.id, { exactly: true })}>
          Continue from here
        </SmallButton>
        {message.role === "assistant" && (
          <SmallButton name="Answer again" onClick={() => setOpen("retry")}>
            Retry
          </SmallButton>
        )}
        {message.role === "user" && message.author === "user" && (
          <SmallButton name="Edit: say it in other words" onClick={() => setOpen("edit")}>
            Edit
          </SmallButton>
        )}
        <SmallButton name="Copy the text" onClick={() => void navigator.clipboard.writeText(textOf(message))}>
          Copy
        </SmallButton>
        <SmallButton name={message.starred ? "Take the star away" : "Star this message"} onClick={star}>
          <span aria-hidden="true">{message.starred ? "★" : "☆"}</span>
        </SmallButton>
        <SmallButton name="Name this message" onClick={() => setOpen("name")}>
          Name
        </SmallButton>
        <SmallButton name="Remove this message" onClick={() => setOpen("remove")}>
          Remove
        </SmallButton>
      </span>
      {open === "edit" && message.role === "user" && <EditMessage message={message} onClose={close} />}
      {open === "name" && <NameMessage message={message} onClose={close} />}
      {open === "retry" && message.role === "assistant" && <RetryAnswer message={message} onClose={close} />}
      {open === "remove" && <RemoveMessage message={message} onClose={close} />}
    </div>
  );
}
