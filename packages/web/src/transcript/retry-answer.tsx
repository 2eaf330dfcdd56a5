import type { AssistantMessage } from "@banyan/core/conversation";
import { pathTo } from "@banyan/core/conversation";
import { useState } from "react";
import { useConversation } from "../conversation/use-conversation.ts";
import { useKnownModels } from "../conversation/use-models.ts";
import { useShow } from "../conversation/use-view.ts";
import { usePage } from "../page.ts";
import { focusHere, InlineForm } from "./inline-form.tsx";

/** Asks for another answer, of the same or another model: a new version beside the old one (W10). */
export function RetryAnswer({ message, onClose }: { readonly message: AssistantMessage; onClose(): void }) {
  const conversation = useConversation();
  const { connection } = usePage();
  const show = useShow();
  const [model, setModel] = useState("");
  const models = useKnownModels(message.model).filter(({ name }) => name !== message.model);
  const retry = async () => {
    const asked = conversation.state
      ? pathTo(conversation.state, message.id).findLast(({ role }) => role === "user")
      : undefined;
    // What comes below the question from now on is the answer that is wanted.
    if (asked) show(asked.id, { exactly: true, focus: asked.id });
    await connection.ask("turn.retry", {
      conversation: conversation.id,
      at: message.id,
      ...(model === "" ? {} : { model }),
    });
  };
  return (
    <InlineForm action="Answer again" onSubmit={retry} onClose={onClose}>
      <label className="flex flex-wrap items-center gap-2">
        Model
        <select
          ref={focusHere}
          value={model}
          onChange={({ target }) => setModel(target.value)}
          className="min-h-6 max-w-full rounded border border-line bg-ground px-1"
        >
          <option value="">{message.model || "the same"}</option>
          {models.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
    </InlineForm>
  );
}
