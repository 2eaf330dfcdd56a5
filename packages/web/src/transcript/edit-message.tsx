import { typedText, type UserMessage } from "@banyan/core/conversation";
import { useState } from "react";
import { useConversation } from "../conversation/use-conversation.ts";
import { useShow } from "../conversation/use-view.ts";
import { usePage } from "../page.ts";
import { focusHere, InlineForm } from "./inline-form.tsx";

/** Says a message in other words: a new version beside it. The old one and all below it stay as they are (W1). */
export function EditMessage({ message, onClose }: { readonly message: UserMessage; onClose(): void }) {
  const { id: conversation } = useConversation();
  const { connection } = usePage();
  const show = useShow();
  const [text, setText] = useState(typedText(message));
  const files = message.parts.filter((part) => part.type === "file");
  const send = async () => {
    const parts = [{ type: "text", text } as const, ...files];
    const said = await connection.ask("turn.retry", { conversation, at: message.id, parts });
    if (said.message !== undefined) show(said.message, { focus: said.message });
  };
  return (
    <InlineForm action="Send as a new version" onSubmit={send} onClose={onClose}>
      <textarea
        ref={focusHere}
        aria-label="The message in other words"
        value={text}
        onChange={({ target }) => setText(target.value)}
        rows={Math.min(12, text.split("\n").length + 1)}
        className="w-full rounded border border-line bg-ground p-2"
      />
    </InlineForm>
  );
}
