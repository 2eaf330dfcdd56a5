import { shortCount } from "@banyan/client/words";
import { type ConversationState, lastAssistantMessage, pathTo } from "@banyan/core/conversation";
import { useKnownModels } from "../parts/conversation/use-models.ts";
import { t } from "../parts/phrases/phrases.ts";

/** Shows the used part of the context window: the tokens of the last answer and its request. */
export function ContextUsed({ tree, leaf }: { readonly tree: ConversationState; readonly leaf: string | null }) {
  const answer = lastAssistantMessage(
    pathTo(tree, leaf).filter((message) => message.role !== "assistant" || message.usage),
  );
  const size = useKnownModels(answer?.model ?? "").find(({ name }) => name === answer?.model)?.contextSize;
  if (!answer?.usage) return null;
  const used = answer.usage.input + answer.usage.output;
  const limit = size === undefined ? "—" : shortCount(size);
  const share = size === undefined ? "" : ` (${Math.round((100 * used) / size)} %)`;
  return (
    <Amount
      name={t("Context")}
      title={
        size === undefined ? t("{used} tokens, limit unknown", { used }) : t("{used} tokens of {size}", { used, size })
      }
      value={`${shortCount(used)} / ${limit}${share}`}
    />
  );
}

/** A name and an amount in a list of descriptions, with a longer form of the amount. */
export function Amount({
  name,
  value,
  title,
}: {
  readonly name: string;
  readonly value: string;
  readonly title: string;
}) {
  return (
    <div className="flex flex-wrap justify-between gap-x-3">
      <dt className="text-soft">{name}</dt>
      <dd dir="ltr">{value}</dd>
      <dd className="w-full text-end text-soft text-xs">{title}</dd>
    </div>
  );
}
