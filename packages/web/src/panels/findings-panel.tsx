import { type Finding, isReviewRequest, lastFindings, mendingRequest } from "@banyan/client/words";
import { leaves, pathTo } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import { useEffect } from "react";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { useShow } from "../parts/conversation/use-view.ts";
import { Button } from "../parts/design/button.tsx";
import { usePage } from "../parts/page/page.ts";
import { useMay } from "../parts/page/use-may.ts";
import { t } from "../parts/phrases/phrases.ts";
import { messageBeginning } from "./tree/words.ts";

/** Lists the findings of the last review, by file and line. Each can be sent to the agent that made the changes (C15). */
export function FindingsPanel({ leaf }: { readonly leaf: string | null }) {
  const page = usePage();
  const may = useMay();
  const conversation = useConversation();
  const tree = useTree();
  const mend = useMending();
  const unread = tree
    ? leaves(tree)
        .map((end) => pathTo(tree, end))
        .filter(([first]) => first !== undefined && isReviewRequest(messageBeginning(conversation, tree, first.id)))
        .flatMap((path) => path.map(({ id }) => id).filter((id) => conversation.outline(id) !== undefined))
    : [];
  useEffect(() => conversation.read(unread), [conversation, unread]);
  if (!tree) return null;
  const found = lastFindings(tree, leaf);
  if (unread.length > 0) return <p className="p-3 text-sm text-soft">{t("Reading …")}</p>;
  if (!found || found.length === 0) {
    return (
      <p className="p-3 text-sm">
        {found ? t("The last review found nothing.") : t("There is no review yet. Start a review with /review.")}
      </p>
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this element.
    <section aria-label={t("Last review")} tabIndex={0} className="min-h-0 flex-1 overflow-y-auto p-3">
      <ol className="flex flex-col gap-3 text-sm">
        {found.map((finding, index) => (
          <li key={index} className="rounded-lg border border-hair px-3 py-2">
            <p className="flex flex-wrap items-baseline gap-x-2">
              <span className="text-soft text-xs">{index + 1}</span>
              <code className="min-w-0 break-all font-mono text-xs">{visibleLine(finding.place)}</code>
            </p>
            <p dir="auto" className="mt-1">
              {visibleLine(finding.text)}
            </p>
            {may("turn.say") && (
              <p className="mt-2">
                <Button
                  isSmall
                  aria-label={t("Fix finding {number}", { number: index + 1 })}
                  onClick={() => page.told(mend(finding))}
                >
                  {t("Fix")}
                </Button>
              </p>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function useMending(): (finding: Finding) => Promise<void> {
  const { connection } = usePage();
  const conversation = useConversation();
  const show = useShow();
  return async (finding) => {
    if (!conversation.state) return;
    const { text, ...at } = mendingRequest(conversation.state, finding);
    const parts = [{ type: "text", text }] as const;
    // A reviewer wrote this text, so the files in it are not attached.
    const said = await connection.ask("turn.say", { conversation: conversation.id, parts, ...at, asIs: true });
    show(said.message);
  };
}
