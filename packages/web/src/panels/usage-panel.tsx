import { cacheMissCause, cacheMissSums, cacheMissText, formatTokens, shortCount } from "@banyan/client/words";
import {
  addCost,
  addUsage,
  type Cost,
  type Message,
  noUsage,
  pathTo,
  totalTokens,
  type Usage,
  usageOnPath,
} from "@banyan/core/conversation";
import { formatCost } from "@banyan/core/shown";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { useShow } from "../parts/conversation/use-view.ts";
import { say, t, tCount } from "../parts/phrases/phrases.ts";
import { messageBeginning } from "./tree/words.ts";
import { UsageTables } from "./usage-tables.tsx";

const ROW = 44;

type AnswerMessage = Extract<Message, { role: "assistant" | "summary" }>;

/** Shows usage and cost of each answer of the branch, of the branch, and of all branches (W42). */
export function UsagePanel({ leaf }: { readonly leaf: string | null }) {
  const tree = useTree();
  const conversation = useConversation();
  const scroller = useRef<HTMLElement>(null);
  const path = tree ? pathTo(tree, leaf) : [];
  const answers = path.filter(
    (message): message is AnswerMessage => message.role !== "user" && message.usage !== undefined,
  );
  const list = useVirtualizer({
    count: answers.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 10,
  });
  const show = useShow();
  if (!tree || leaf === null) return <p className="p-3 text-sm">{t("No messages yet.")}</p>;
  const branch = usageOnPath(path);
  const other = subAgentUsage(tree.messages.values(), path);
  return (
    <>
      <table className="mx-3 my-2 text-end text-xs">
        <caption className="sr-only">{t("Tokens and cost")}</caption>
        <thead className="text-soft">
          <tr>
            <th scope="col" className="text-start font-normal">
              {t("Tokens")}
            </th>
            <th scope="col" className="font-normal">
              {t("This branch")}
            </th>
            <th scope="col" className="font-normal">
              {t("All branches")}
            </th>
          </tr>
        </thead>
        <tbody>
          {(["input", "cached", "cacheWrite", "output", "reasoning"] as const).map((kind) => (
            <Row
              key={kind}
              name={KINDS[kind]}
              branch={shortCount(branch.usage[kind])}
              all={shortCount(tree.usage[kind])}
            />
          ))}
          <Row name={t("Cost")} branch={formatCost(branch.cost, say)} all={formatCost(tree.cost, say)} />
        </tbody>
      </table>
      <CacheMisses messages={tree.messages.values()} />
      {other.answers > 0 && (
        <p className="px-3 pb-2 text-soft text-xs">
          {t("All branches, with sub-agents: {tokens} tokens, {cost}.", {
            tokens: shortCount(totalTokens(other.usage)),
            cost: formatCost(other.cost, say),
          })}
        </p>
      )}
      <details className="border-hair border-t text-sm">
        <summary className="cursor-pointer px-3 py-1.5 text-soft text-xs">
          {t("By model and day, all branches")}
        </summary>
        <div className="max-h-56 overflow-y-auto">
          <UsageTables messages={tree.messages.values()} />
        </div>
      </details>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this element. */}
      <section ref={scroller} tabIndex={0} aria-label={t("Each answer")} className="min-h-0 flex-1 overflow-y-auto">
        <ol className="relative" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map(({ index, start }) => {
            const answer = answers[index];
            return (
              answer && (
                <li
                  key={answer.id}
                  aria-posinset={index + 1}
                  aria-setsize={answers.length}
                  className="absolute w-full"
                  style={{ transform: `translateY(${start}px)`, height: ROW }}
                >
                  <button
                    type="button"
                    onClick={() => show(leaf, { focus: answer.id })}
                    className="block w-full px-3 py-1 text-start text-xs hover:bg-sunken"
                  >
                    <span className="flex justify-between gap-2">
                      <span className="truncate">
                        {answer.label ?? messageBeginning(conversation, tree, answer.id)}
                      </span>
                      <span className="shrink-0 whitespace-nowrap">
                        {formatTokens(answer.usage ?? noUsage, say) !== "" && formatCost(answer.cost, say)}
                      </span>
                    </span>
                    <span className="block truncate text-soft">
                      {[formatTokens(answer.usage ?? noUsage, say), cacheMissText([answer], say)]
                        .filter((part) => part !== "")
                        .join(" · ")}
                    </span>
                  </button>
                </li>
              )
            );
          })}
        </ol>
      </section>
    </>
  );
}

const KINDS = {
  input: t("Input"),
  cached: t("Cached"),
  cacheWrite: t("Written to the cache"),
  output: t("Output"),
  reasoning: t("Reasoning"),
} as const;

/** Lists the causes of cache misses of all branches. */
function CacheMisses({ messages }: { readonly messages: Iterable<Message> }) {
  const sums = cacheMissSums(messages);
  if (sums.length === 0) return null;
  return (
    <table className="mx-3 my-2 text-end text-xs">
      <caption className="text-start text-soft">{t("Cache misses, all branches")}</caption>
      <tbody>
        {sums.map(({ cause, count, tokens }) => (
          <tr key={cause}>
            <th scope="row" className="text-start font-normal">
              {cacheMissCause(cause, say)}
            </th>
            <td className="whitespace-nowrap ps-2">{tCount(count, "{count} answer", "{count} answers")}</td>
            <td className="whitespace-nowrap ps-2">{t("{tokens} tokens", { tokens: shortCount(tokens) })}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Row({ name, branch, all }: { readonly name: string; readonly branch: string; readonly all: string }) {
  return (
    <tr>
      <th scope="row" className="text-start font-normal">
        {name}
      </th>
      <td>{branch}</td>
      <td>{all}</td>
    </tr>
  );
}

function subAgentUsage(
  messages: Iterable<Message>,
  path: readonly Message[],
): { readonly answers: number; readonly usage: Usage; readonly cost: Cost } {
  const own = path[0]?.call;
  let [answers, usage, cost]: [number, Usage, Cost] = [0, noUsage, 0];
  for (const message of messages) {
    if (message.role === "user" || message.call === own || !message.usage) continue;
    answers++;
    usage = addUsage(usage, message.usage);
    cost = addCost(cost, message.cost);
  }
  return { answers, usage, cost };
}
