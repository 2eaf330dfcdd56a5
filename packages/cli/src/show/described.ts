import type { Style } from "./style.ts";
import { wrap } from "./wrap.ts";

/** A name of one part or more, and what it stands for. */
export interface Described {
  readonly name: readonly string[];
  readonly text: string;
}

/** Columns from which on a text stands beside its name. */
const BESIDE = 60;
/** The part of the columns that names may take; a longer one has a line of its own. */
const NAMES = 0.45;

/** Names and what they stand for, beside each other where there is room. Lines are broken between words. */
export function described(rows: readonly Described[], columns: number, style: Pick<Style, "dim">): string[] {
  const isBeside = columns >= BESIDE;
  const parts = (rows[0]?.name ?? []).map((_, part) => Math.max(...rows.map(({ name }) => (name[part] ?? "").length)));
  const heads = rows.map(({ name }) => {
    const padded = name.map((text, part) =>
      isBeside && part < name.length - 1 ? text.padEnd(parts[part] ?? 0) : text,
    );
    return `  ${padded.join("  ")}`;
  });
  const fitting = heads.map(({ length }) => length).filter((length) => length <= columns * NAMES);
  const width = isBeside ? Math.max(4, ...fitting) + 2 : 6;
  return rows.flatMap(({ text }, index) => {
    const head = heads[index] ?? "";
    const lines = wrap(text, Math.max(10, columns - width)).split("\n");
    const [first = "", ...more] = lines.map((line) => style.dim(line));
    const indented = (line: string) => " ".repeat(width) + line;
    return isBeside && head.length + 2 <= width
      ? [head.padEnd(width) + first, ...more.map(indented)]
      : [...(head.trim() === "" ? [] : [head]), ...[first, ...more].map(indented)];
  });
}
