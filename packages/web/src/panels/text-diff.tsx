import { type Change, diffLines, diffWordsWithSpace } from "diff";
import { useMemo } from "react";
import { t } from "../parts/phrases/phrases.ts";

const PATIENCE = 80;

/** Shows the differences between two texts, word by word, by strikethrough and underline and not by colour alone. */
export function TextDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const changes = useMemo(() => compare(before, after), [before, after]);
  const isSame = changes.every(({ added, removed }) => !added && !removed);
  return (
    <>
      <p className="text-soft text-xs">
        {isSame
          ? t("Both texts are identical.")
          : t("Strikethrough: only in the other branch. Underline: only in this branch.")}
      </p>
      <section aria-label={t("Differences")} className="mt-1 whitespace-pre-wrap rounded-md border border-hair p-2">
        {changes.map(({ value, added, removed }, index) =>
          added ? (
            <ins key={index} className="bg-leaf-ground text-leaf">
              {value}
            </ins>
          ) : removed ? (
            <del key={index} className="bg-bad-ground text-bad">
              {value}
            </del>
          ) : (
            <span key={index}>{value}</span>
          ),
        )}
      </section>
    </>
  );
}

/** Compares by words; if that takes too long, by lines; otherwise the whole text. */
function compare(before: string, after: string): readonly Pick<Change, "value" | "added" | "removed">[] {
  return (
    diffWordsWithSpace(before, after, { timeout: PATIENCE }) ??
    diffLines(before, after, { timeout: PATIENCE }) ?? [
      { value: before, added: false, removed: true },
      { value: after, added: true, removed: false },
    ]
  );
}
