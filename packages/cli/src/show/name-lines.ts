import { wrapSentence } from "./fit-text.ts";
import type { Style } from "./style.ts";

export interface DescribedName {
  readonly name: readonly string[];
  readonly text: string;
}

const BESIDE = 60;
/** Maximum share of the columns for names. A longer name has its own line. */
const NAMES = 0.45;
/** A name that exceeds all others by this much also has its own line, so that descriptions stay near the names. */
const MUCH_LONGER = 12;

/**
 * Formats names with descriptions, side by side if there is room, and wrapped between words. `all`: the rows of all
 * lists that share the same column widths.
 */
export function nameLines(
  rows: readonly DescribedName[],
  columns: number,
  { dim, accent }: Pick<Style, "accent" | "dim">,
  all = rows,
): string[] {
  const isBeside = columns >= BESIDE;
  const parts = (all[0]?.name ?? []).map((_, part) => Math.max(...all.map(({ name }) => (name[part] ?? "").length)));
  const headOf = ({ name }: DescribedName) => {
    const isLast = (part: number) => part === name.length - 1;
    const padded = name.map((text, part) => (isBeside && !isLast(part) ? text.padEnd(parts[part] ?? 0) : text));
    return `  ${padded.join("  ")}`;
  };
  const fitting = all.map((row) => headOf(row).length).filter((length) => length <= columns * NAMES);
  const [longest = 4, next = longest] = fitting.sort((one, other) => other - one);
  const width = isBeside ? (longest - next > MUCH_LONGER ? next : longest) + 2 : 6;
  return rows.flatMap((row) => {
    const head = headOf(row);
    const lines = wrapSentence(row.text, Math.max(10, columns - width)).split("\n");
    const [first = "", ...more] = lines.map(dim);
    const indented = (line: string) => " ".repeat(width) + line;
    return isBeside && head.length + 2 <= width
      ? [accent(head.padEnd(width)) + first, ...more.map(indented)]
      : [
          ...(head.trim() === "" ? [] : wrapSentence(head, columns).split("\n").map(accent)),
          ...[first, ...more].map(indented),
        ];
  });
}
