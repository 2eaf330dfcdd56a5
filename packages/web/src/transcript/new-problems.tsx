import { visibleLine } from "@banyan/core/shown";
import { t } from "../parts/phrases/phrases.ts";

/** Shows problems that a change made, each on a line of its own (E1). */
export function NewProblems({ lines }: { readonly lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <section aria-label={t("New problems")} className="border-hair border-t px-3 py-1.5 text-xs">
      <p className="text-soft">{t("New problems")}</p>
      <ul dir="ltr" className="font-mono">
        {lines.map((line, index) => (
          <li
            key={index}
            className={`[overflow-wrap:anywhere] ${line.includes(": error: ") ? "text-bad" : "text-warn"}`}
          >
            {visibleLine(line)}
          </li>
        ))}
      </ul>
    </section>
  );
}
