import type { Look } from "./look.ts";

const INDENT = "  ";
/** Lines before a line of code that say how it is to be painted. */
export const CONTEXT = 100;

/** The line above code with its language, and what else was written there; none when nothing was. */
export function codeLabel(language: string, { theme }: Look): string[] {
  const label = language.trim();
  return label === "" ? [] : [theme.dim(INDENT + label)];
}

/** Lines of code, painted, as they come `before` and after; only those that come after are answered. They are never broken. */
export function codeLines(
  lines: readonly string[],
  language: string,
  look: Look,
  before: readonly string[] = [],
): string[] {
  if (lines.length === 0) return [];
  const plain = lines.map((line) => line.replaceAll("\t", "    "));
  const context = before.slice(-CONTEXT).map((line) => line.replaceAll("\t", "    "));
  const code = [...context, ...plain].join("\n");
  const painted = look.highlight?.(code, nameIn(language))?.slice(context.length) ?? plain;
  return painted.map((line) => (line === "" ? "" : INDENT + line));
}

/** ` ```ts title="x" ` is `ts`. */
function nameIn(language: string): string {
  return /^[^\s{,:]+/.exec(language.trim())?.[0] ?? "";
}
