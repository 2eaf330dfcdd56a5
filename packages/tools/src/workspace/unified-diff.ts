import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import { showControls, showOnOneLine } from "./plain-text.ts";

const MOST_LINES = 300;
const MOST_CHARACTERS = 20_000;
/** Lines taken away and put in; beyond this many, the search for the shortest difference is given up: its cost grows with the square. */
const MOST_CHANGES = 1000;

/**
 * What changed in a text file, as a unified diff for the model and the reader: at most some 300 lines, with a note of
 * how many more there are. A note stands in place of the diff when the texts differ in more than 1,000 lines. Line
 * ends are not compared.
 */
export function unifiedDiff(path: string, before: string, after: string): string {
  const patch = createTwoFilesPatch(showOnOneLine(path), showOnOneLine(path), before, after, undefined, undefined, {
    context: 3,
    maxEditLength: MOST_CHANGES,
    stripTrailingCr: true,
    headerOptions: FILE_HEADERS_ONLY,
  });
  if (patch === undefined) return `[no diff: more than ${MOST_CHANGES} lines changed]`;
  const lines = showControls(patch.trimEnd().replaceAll("\r\n", "\n")).split("\n");
  const shown: string[] = [];
  let characters = 0;
  for (const line of lines) {
    characters += line.length + 1;
    if (shown.length === MOST_LINES || characters > MOST_CHARACTERS) {
      return `${shown.join("\n")}\n[... ${lines.length - shown.length} more lines of the diff]`;
    }
    shown.push(line);
  }
  return shown.join("\n");
}
