import { cacheMissText, formatSpent } from "@banyan/client/words";
import {
  type AssistantMessage,
  isUserMessage,
  type Message,
  type SummaryMessage,
  textOf,
  type UserMessage,
} from "@banyan/core/conversation";
import { useState } from "react";
import { focusOn, focusOnMessage, takesFocus } from "../parts/browser/focus-on.ts";
import { useCopy } from "../parts/browser/use-copy.ts";
import { writtenIn } from "../parts/connection/unsent-message.ts";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { useShow } from "../parts/conversation/use-view.ts";
import { SmallButton } from "../parts/design/button.tsx";
import { TextArea, TextField } from "../parts/design/field.tsx";
import { Icon } from "../parts/design/icon.tsx";
import { usePage } from "../parts/page/page.ts";
import { usePreference } from "../parts/page/preferences.ts";
import { say, t, tCount } from "../parts/phrases/phrases.ts";
import { AttachmentList } from "./attachment-list.tsx";
import { type Attachment, attachmentFrom, useAttachments } from "./attachments.ts";
import { InlineForm } from "./inline-form.tsx";
import { RemoveMessage } from "./remove-message.tsx";
import { RetryAnswer } from "./retry-answer.tsx";
import { Versions } from "./versions.tsx";

/** On touch screens, a tap on a message shows its actions; otherwise every message would have a row of them. */
const TAPPED = "[@media(hover:none)]:hidden [@media(hover:none)]:group-focus-within/message:flex";

/** The row below a message: its versions, its usage and its actions. */
export function MessageActions({ message, isLast }: { readonly message: Message; readonly isLast: boolean }) {
  const conversation = useConversation();
  const page = usePage();
  const show = useShow();
  const { isCopied, copy } = useCopy(textOf(message));
  const [open, setOpen] = useState<"edit" | "name" | "retry" | "remove">();
  const close = () => {
    setOpen(undefined);
    // The form is about to disappear and would lose the focus.
    focusOnMessage(message.id);
  };
  const star = () =>
    page.told(
      page.connection.ask("message.star", {
        conversation: conversation.id,
        message: message.id,
        starred: !message.starred,
      }),
    );
  const goOn = () => {
    show(message.id, { exactly: true });
    focusOn("#composer");
  };
  const [figures, setFigures] = usePreference("figures");
  const isStep = message.role === "assistant" && message.finish === "calls";
  // A step without text begins with a card's head, which must stay readable and clickable.
  const isWordless = isStep && textOf(message).trim() === "";
  const isOwn = isUserMessage(message);
  const isEditable = message.role === "summary" && message.covers !== undefined;
  return (
    <div
      className={`flex flex-wrap items-center gap-x-2 gap-y-1 text-soft text-xs print:hidden ${isStep ? "" : "mt-1 min-h-6"} ${isOwn ? "flex-row-reverse" : ""}`}
    >
      <Versions message={message.id} />
      {message.label !== undefined && <span className="font-medium text-ink">{message.label}</span>}
      {message.starred && <span className="text-warn">{`★ ${t("starred")}`}</span>}
      {message.role === "assistant" && figures === "shown" && <AnswerCost message={message} />}
      {/* Actions appear with the pointer. In steps, which are many, they lie over the content. */}
      <span
        data-actions=""
        className={`flex flex-wrap rounded-md bg-ground focus-within:opacity-100 group-focus-within/message:opacity-100 group-hover/message:opacity-100 ${isLast ? "[@media(hover:none)]:opacity-100" : TAPPED} ${open ? "" : "opacity-0"} ${isStep ? `sm:[@media(hover:hover)]:absolute sm:[@media(hover:hover)]:end-0 ${isWordless ? "sm:[@media(hover:hover)]:-top-5" : "sm:[@media(hover:hover)]:-top-1"}` : ""}`}
      >
        <SmallButton name={t("Continue from here")} takes="turn.say" onClick={goOn}>
          <Icon of="branch" />
        </SmallButton>
        {message.role === "assistant" && (
          <SmallButton name={t("Answer again")} takes="turn.retry" onClick={() => setOpen("retry")}>
            <Icon of="retry" />
          </SmallButton>
        )}
        {isOwn && (
          <SmallButton name={t("Edit message")} takes="turn.retry" onClick={() => setOpen("edit")}>
            <Icon of="edit" />
          </SmallButton>
        )}
        {isEditable && (
          <SmallButton name={t("Edit this summary")} takes="summary.edit" onClick={() => setOpen("edit")}>
            <Icon of="edit" />
          </SmallButton>
        )}
        <SmallButton name={t("Copy the text")} onClick={copy}>
          <Icon of={isCopied ? "done" : "copy"} />
        </SmallButton>
        <SmallButton name={message.starred ? t("Unstar") : t("Star this message")} takes="message.star" onClick={star}>
          <Icon of="star" isFilled={message.starred === true} />
        </SmallButton>
        <SmallButton name={t("Name this message")} takes="message.label" onClick={() => setOpen("name")}>
          <Icon of="name" />
        </SmallButton>
        <SmallButton name={t("Remove this message")} takes="message.remove" onClick={() => setOpen("remove")}>
          <Icon of="remove" />
        </SmallButton>
        {/* The last action: it appears when the answer ends, and moves none of the others (W54). */}
        {message.role === "assistant" && message.usage && (
          <SmallButton
            name={figures === "shown" ? t("Hide tokens and cost") : t("Show tokens and cost")}
            onClick={() => setFigures(figures === "shown" ? "folded" : "shown")}
          >
            <Icon of="usage" />
          </SmallButton>
        )}
      </span>
      {open === "edit" && message.role === "user" && <EditMessage message={message} onClose={close} />}
      {open === "edit" && message.role === "summary" && <EditSummary message={message} onClose={close} />}
      {open === "name" && <NameMessage message={message} onClose={close} />}
      {open === "retry" && message.role === "assistant" && (
        <RetryAnswer at={message.id} model={message.model} onClose={close} />
      )}
      {open === "remove" && <RemoveMessage message={message} onClose={close} />}
    </div>
  );
}

function AnswerCost({ message }: { readonly message: AssistantMessage }) {
  const { model, usage, cost, calls } = message;
  if (!usage) return null;
  const said = [
    model,
    formatSpent(usage, cost, say),
    calls.length > 0 ? tCount(calls.length, "{count} call", "{count} calls") : "",
    cacheMissText([message], say),
  ];
  return <span>{said.filter((part) => part !== "").join(" · ")}</span>;
}

/** Edits a message as a new version next to it. The old one and all messages below stay unchanged (W1). */
function EditMessage({ message, onClose }: { readonly message: UserMessage; onClose(): void }) {
  const { id: conversation } = useConversation();
  const { connection } = usePage();
  const show = useShow();
  const [written] = useState(() => writtenIn(message));
  const [text, setText] = useState(written.text);
  const files = useAttachments(
    useTree()?.model,
    useState<readonly Attachment[]>(() => written.rest.map(attachmentFrom)),
  );
  const send = async () => {
    const parts = [{ type: "text", text } as const, ...files.all.map(({ part }) => part)];
    const said = await connection.ask("turn.retry", { conversation, at: message.id, parts });
    if (said.message !== undefined) show(said.message, { focus: said.message });
  };
  return (
    <InlineForm action={t("Send as a new version")} onSubmit={send} onClose={onClose}>
      <AttachmentList files={files} />
      <TextArea
        ref={takesFocus}
        aria-label={t("Edited message")}
        value={text}
        onChange={({ target }) => setText(target.value)}
        rows={Math.min(12, text.split("\n").length + 1)}
      />
    </InlineForm>
  );
}

/** Adds an edited version of a summary, from which the model continues (F99). */
function EditSummary({ message, onClose }: { readonly message: SummaryMessage; onClose(): void }) {
  const { id: conversation } = useConversation();
  const { connection } = usePage();
  const show = useShow();
  const [text, setText] = useState(textOf(message));
  const send = async () => {
    const edited = await connection.ask("summary.edit", { conversation, message: message.id, text });
    show(edited.message, { focus: edited.message });
  };
  return (
    <InlineForm action={t("Send as a new version")} onSubmit={send} onClose={onClose}>
      <TextArea
        ref={takesFocus}
        aria-label={t("Edited summary")}
        value={text}
        onChange={({ target }) => setText(target.value)}
        rows={Math.min(12, text.split("\n").length + 1)}
      />
    </InlineForm>
  );
}

function NameMessage({ message, onClose }: { readonly message: Message; onClose(): void }) {
  const { id: conversation } = useConversation();
  const { connection } = usePage();
  const [name, setName] = useState(message.label ?? "");
  const send = () =>
    connection.ask("message.label", { conversation, message: message.id, label: name.trim() === "" ? null : name });
  return (
    <InlineForm action={t("Save")} onSubmit={send} onClose={onClose}>
      <TextField
        ref={takesFocus}
        aria-label={t("Name of the message")}
        value={name}
        maxLength={200}
        onChange={({ target }) => setName(target.value)}
      />
    </InlineForm>
  );
}
