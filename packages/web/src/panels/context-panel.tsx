import { shortCount } from "@banyan/client/words";
import type { Result } from "@banyan/protocol";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { useServerAnswer } from "../parts/page/use-server-answer.ts";
import { t } from "../parts/phrases/phrases.ts";
import { ContextUsed } from "./context-used.tsx";

type ContextShare = Result<"context.read">["parts"][number];

const KINDS = { instructions: t("Instructions"), tool: t("Tools"), conversation: t("Conversation") } as const;

/** Shows the parts of the model's context on this branch, with their tokens. */
export function ContextPanel({ leaf }: { readonly leaf: string | null }) {
  const { id: conversation } = useConversation();
  // Read again when the branch has grown: the end of a run changes the number of runs.
  const tree = useTree();
  const branch = leaf === null ? {} : { leaf };
  const { answer, problem } = useServerAnswer("context.read", { conversation, ...branch }, tree?.runs.size);
  if (problem !== undefined) return <p className="p-3 text-bad text-sm">{problem}</p>;
  if (!answer) return <p className="p-3 text-sm text-soft">{t("Counting …")}</p>;
  const { parts } = answer;
  const total = sum(parts);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this element.
    <section aria-label={t("Parts of the context")} tabIndex={0} className="min-h-0 flex-1 overflow-y-auto p-3 text-sm">
      <p>
        {parts.every(({ isExact }) => isExact)
          ? t("{tokens} tokens are in the context.", { tokens: shortCount(total) })
          : t("About {tokens} tokens are in the context.", { tokens: shortCount(total) })}
      </p>
      <dl className="mt-1">{tree && <ContextUsed tree={tree} leaf={leaf} />}</dl>
      {(Object.keys(KINDS) as ContextShare["kind"][]).map((kind) => (
        <Kind key={kind} kind={kind} parts={parts.filter((part) => part.kind === kind)} total={total} />
      ))}
    </section>
  );
}

function Kind({
  kind,
  parts,
  total,
}: {
  readonly kind: ContextShare["kind"];
  readonly parts: readonly ContextShare[];
  readonly total: number;
}) {
  if (parts.length === 0) return null;
  return (
    <>
      <h2 className="mt-3 flex justify-between font-medium">
        {KINDS[kind]} <span>{shortCount(sum(parts))}</span>
      </h2>
      <ul>
        {parts
          .toSorted((a, b) => b.tokens - a.tokens)
          .map(({ source, tokens, isExact }, index) => (
            <li key={`${source} ${index}`} className="text-xs">
              <span className="flex justify-between gap-2">
                <span className="truncate">{source}</span>
                <span className="text-soft">
                  {isExact ? "" : "~"}
                  {shortCount(tokens)}
                </span>
              </span>
              <span aria-hidden="true" className="block h-1 rounded bg-sunken">
                <span
                  className="block h-1 rounded bg-leaf"
                  style={{ width: `${(100 * tokens) / Math.max(1, total)}%` }}
                />
              </span>
            </li>
          ))}
      </ul>
    </>
  );
}

function sum(parts: readonly ContextShare[]): number {
  return parts.reduce((all, { tokens }) => all + tokens, 0);
}
