import { visibleProse } from "@banyan/core/shown";
import { wrapped } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";

/** Lines of a person's message that are shown; of a longer one the first and the last. */
const MOST_LINES = 40;

/** What a person said, as it stands in the transcript. */
export function messageLines(text: string, width: number, theme: Theme): string[] {
  const lines = visibleProse(text).replaceAll("\t", "    ").split("\n");
  const hidden = lines.length - MOST_LINES;
  const half = MOST_LINES / 2;
  const shown =
    hidden > 1 ? [...lines.slice(0, half), theme.dim(`… (${hidden} more lines)`), ...lines.slice(-half)] : lines;
  return shown
    .flatMap((line) => wrapped(line, Math.max(1, width - 2)))
    .map((line, index) => `${index === 0 ? theme.accent("❯") : " "} ${theme.bold(line)}`.trimEnd());
}
