import { formatDuration } from "@banyan/client/words";
import { formatCost, visibleLine, withoutMarks } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import { useEffect, useState } from "react";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { useShow } from "../parts/conversation/use-view.ts";
import { Button } from "../parts/design/button.tsx";
import { usePage } from "../parts/page/page.ts";
import { useMay } from "../parts/page/use-may.ts";
import { say, t, tCount } from "../parts/phrases/phrases.ts";

type ComparedColumn = Result<"branch.compare">["branches"][number];

const OUTCOMES: Readonly<Record<ComparedColumn["outcome"], string>> = {
  answered: t("answered"),
  finished: t("finished"),
  limit: t("stopped at a limit"),
  failed: t("failed"),
  interrupted: t("interrupted"),
  working: t("running"),
  waiting: t("waiting for you"),
  unasked: t("no message yet"),
};

/** Compares the branches that fork here by outcome, time, cost and files, and can bring their files over (W70). */
export function SideBySide({ leaf }: { readonly leaf: string }) {
  const page = usePage();
  const show = useShow();
  const { id: conversation } = useConversation();
  const tree = useTree();
  const mayBring = useMay()("branch.bring");
  const [branches, setBranches] = useState<readonly ComparedColumn[]>([]);
  // Compare again when a turn begins or ends or a question arises, and not with each word.
  const standing = tree ? `${[...tree.runs.keys(), ...tree.questions.keys()].join(" ")} ${tree.children.size}` : "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: `standing` changes when the branches must be compared again.
  useEffect(() => {
    let isGone = false;
    page.connection.ask("branch.compare", { conversation, at: leaf }).then(
      (compared) => isGone || setBranches(compared.branches),
      // The branch has no siblings, as the panel says.
      () => isGone || setBranches([]),
    );
    return () => {
      isGone = true;
    };
  }, [page, conversation, leaf, standing]);
  if (branches.length === 0) return null;
  return (
    <ul aria-label={t("Side by side")} className="mb-3 flex flex-col gap-2">
      {branches.map((branch, index) => {
        const isHere = branch.leaf === leaf;
        const isAlone = branches.every((other) => other === branch || other.name !== branch.name);
        const name = visibleLine(isAlone ? branch.name : `${branch.name} (${index + 1})`);
        return (
          <li key={branch.first} className="rounded-md border border-hair px-2 py-1.5">
            <p className="flex flex-wrap items-baseline gap-x-2">
              <strong className="font-medium">{name}</strong>
              <span className="text-soft text-xs">{comparisonLine(branch)}</span>
            </p>
            {branch.problem !== undefined && <p className="text-warn text-xs">{branch.problem}</p>}
            <p dir="auto" className="line-clamp-2">
              {withoutMarks(branch.said)}
            </p>
            {!isHere && (
              <p className="mt-1 flex gap-2">
                <Button isSmall aria-label={t("Show {name}", { name })} onClick={() => show(branch.leaf)}>
                  {t("Show")}
                </Button>
                {mayBring && (
                  <Button
                    isSmall
                    aria-label={t("Bring changes over: {name}", { name })}
                    onClick={() =>
                      page.told(page.connection.ask("branch.bring", { conversation, from: branch.leaf, to: leaf }))
                    }
                  >
                    {t("Bring changes over")}
                  </Button>
                )}
              </p>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** Returns a line such as `answered · 12.0 s · $0.12 · 3 files +20 -4`. */
function comparisonLine({ outcome, time, cost, files }: ComparedColumn): string {
  const sum = (of: "added" | "removed") => files.reduce((total, file) => total + file[of], 0);
  const changed =
    files.length === 0
      ? t("no files")
      : `${tCount(files.length, "{count} file", "{count} files")} +${sum("added")} -${sum("removed")}`;
  return [
    OUTCOMES[outcome],
    ...(time === undefined ? [] : [formatDuration(time)]),
    cost === undefined ? t("cost unknown") : formatCost(cost, say),
    changed,
  ].join(" · ");
}
