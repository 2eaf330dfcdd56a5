/** A line of a diff in an answer. All lines, each with its sign, give the whole text of the diff. */
export interface WrittenLine {
  readonly kind: "added" | "removed" | "same" | "place";
  readonly sign: "+" | "-" | " " | "";
  readonly text: string;
  /** The line numbers in the old and the new text, if the diff has them. */
  readonly before?: number;
  readonly after?: number;
  /** The file of the line, if the diff names it. */
  readonly path: string;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const HEAD = /^(diff |index |(new|deleted) file mode |rename |similarity index |\\ |@@)/;

const MOST = 2_000;

/**
 * Parses a diff as models write it: with or without headers and numbers, with empty context lines, or cut short. Keeps
 * every line (W62). Returns `undefined` for a text that is too long or changes no line.
 */
export function writtenDiff(diff: string): readonly WrittenLine[] | undefined {
  const written = diff.split("\n");
  if (written.length > MOST || !written.some((line) => /^[+-]/.test(line))) return undefined;
  let path = "";
  let numbers: { before: number; after: number } | undefined;
  return written.map((line, index): WrittenLine => {
    const isNames = /^--- /.test(line) && /^\+\+\+ /.test(written[index + 1] ?? "");
    const isName = /^\+\+\+ /.test(line) && /^--- /.test(written[index - 1] ?? "");
    if (isName) path = line.slice(4).replace(/^b\//, "").replace(/\t.*$/, "");
    const [, before, after] = HUNK.exec(line) ?? [];
    if (before !== undefined && after !== undefined) numbers = { before: Number(before), after: Number(after) };
    if (isNames || line.startsWith("diff ")) numbers = undefined;
    if (isNames || isName || HEAD.test(line)) return { kind: "place", sign: "", text: line, path };
    const [sign = ""] = /^[+\- ]/.exec(line) ?? [];
    const text = line.slice(sign.length);
    if (sign === "+") return { kind: "added", sign, text, path, ...(numbers && { after: numbers.after++ }) };
    if (sign === "-") return { kind: "removed", sign, text, path, ...(numbers && { before: numbers.before++ }) };
    const places = numbers && { before: numbers.before++, after: numbers.after++ };
    return { kind: "same", sign: sign === " " ? " " : "", text, path, ...places };
  });
}
