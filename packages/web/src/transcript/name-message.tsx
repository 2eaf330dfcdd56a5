import type { Message } from "@banyan/core/conversation";
import { useState } from "react";
import { useConversation } from "../conversation/use-conversation.ts";
import { usePage } from "../page.ts";
import { focusHere, InlineForm } from "./inline-form.tsx";

/** Gives a message a name, or takes it away (W13). */
export function NameMessage({ message, onClose }: { readonly message: Message; onClose(): void }) {
  const { id: conversation } = useConversation();
  const { connection } = usePage();
  const [name, setName] = useState(message.label ?? "");
  const send = () =>
    connection.ask("message.label", { conversation, message: message.id, label: name.trim() === "" ? null : name });
  return (
    <InlineForm action="Name it" onSubmit={send} onClose={onClose}>
      <input
        ref={focusHere}
        aria-label="Name of the message"
        value={name}
        maxLength={200}
        onChange={({ target }) => setName(target.value)}
        className="rounded border border-line bg-ground px-2 py-1"
      />
    </InlineForm>
  );
}
