import { pathTo } from "@banyan/core/conversation";
import { useState } from "react";
import { takesFocus } from "../parts/browser/focus-on.ts";
import { useConversation } from "../parts/conversation/use-conversation.ts";
import { useKnownModels } from "../parts/conversation/use-models.ts";
import { useShow } from "../parts/conversation/use-view.ts";
import { Select } from "../parts/design/field.tsx";
import { usePage } from "../parts/page/page.ts";
import { t } from "../parts/phrases/phrases.ts";
import { InlineForm } from "./inline-form.tsx";

/** Returns a function that requests another answer to the same user message, and shows it. */
export function useRetry(): (at: string, model?: string) => Promise<unknown> {
  const conversation = useConversation();
  const { connection } = usePage();
  const show = useShow();
  return (at, model) => {
    const question = conversation.state
      ? pathTo(conversation.state, at).findLast(({ role }) => role === "user")
      : undefined;
    // The next answer below the user message is the requested one.
    if (question) show(question.id, { exactly: true, focus: question.id });
    return connection.ask("turn.retry", {
      conversation: conversation.id,
      at,
      ...(model === undefined ? {} : { model }),
    });
  };
}

/** Requests another answer from the same or another model: a new version next to the old one (W10). */
export function RetryAnswer({
  at,
  model: usual,
  onClose,
}: {
  readonly at: string;
  readonly model: string;
  onClose(): void;
}) {
  const retry = useRetry();
  const [model, setModel] = useState("");
  const models = useKnownModels(usual).filter(({ name }) => name !== usual);
  return (
    <InlineForm
      action={t("Answer again")}
      onSubmit={() => retry(at, model === "" ? undefined : model)}
      onClose={onClose}
    >
      <label className="flex flex-wrap items-center gap-2">
        {t("Model")}
        <Select isSmall ref={takesFocus} value={model} onChange={({ target }) => setModel(target.value)}>
          <option value="">{usual || t("the same")}</option>
          {models.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
      </label>
    </InlineForm>
  );
}
