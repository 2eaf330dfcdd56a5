import { goalLines, openGoals } from "@banyan/client/words";
import { useTree } from "../parts/conversation/use-conversation.ts";
import { say, t } from "../parts/phrases/phrases.ts";

/** Shows the checks of the branch's open goal, with their last results (E15). */
export function GoalList({ leaf }: { readonly leaf: string | null }) {
  const tree = useTree();
  const lines = tree ? goalLines(openGoals(tree, leaf), say) : [];
  if (lines.length === 0) return null;
  return (
    <ul aria-label={t("Goal")} className="max-h-40 overflow-y-auto rounded border border-hair px-2 py-1 text-sm">
      {lines.map((line) => (
        <li key={line} className="[overflow-wrap:anywhere]">
          {line}
        </li>
      ))}
    </ul>
  );
}
