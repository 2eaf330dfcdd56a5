/**
 * Stands before formulas that are written as code: a character that no text means anything by. Who writes it themselves gets a
 * formula, which can do no more than any other.
 */
const MARK = "\uE0F1";

/** How a formula stands: among words, or by itself. */
export interface Formula {
  readonly tex: string;
  readonly isDisplay: boolean;
}

/**
 * What is code, so that no formula is looked for in it, or escaped; and the four ways in which formulas are written (W58). A dollar
 * opens one only before a sign and closes it only behind one, with no digit or letter after it: prices are none.
 */
const SPANS =
  /(?<fence>`+)[\s\S]*?(?<!`)\k<fence>(?!`)|\\\\|\$\$(?<block>[^$]+?)\$\$|\\\[(?<square>[\s\S]+?)\\\]|\\\((?<round>[\s\S]+?)\\\)|\\[^([]|(?<![$\w])\$(?=[^\s$])(?<inline>(?:\\.|[^$\\\n])+?)(?<=\S)\$(?![\w$])/g;

/**
 * A block of Markdown in which formulas are marked code: what stands in code means nothing in Markdown, and in TeX it is to mean
 * nothing either. A block that is code itself, or that shows no formula, stays as it is.
 */
export function formulasAsCode(raw: string): string {
  if (!/\$|\\[([]/.test(raw) || /^( {4}|\t|\s{0,3}(```|~~~))/.test(raw)) return raw;
  return raw.replace(SPANS, (whole: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    const display = groups.block ?? groups.square;
    const tex = display ?? groups.round ?? groups.inline;
    // In a quotation or a list, the marks of its lines are none of the formula; an empty one is text.
    if (tex === undefined || tex.trim() === "" || /\n\s*\n|\n\s*>/.test(tex)) return whole;
    const fence = "`".repeat(1 + Math.max(0, ...[...tex.matchAll(/`+/g)].map(([ticks]) => ticks.length)));
    return `${fence} ${MARK}${display === undefined ? "" : MARK}${tex.trim()} ${fence}`;
  });
}

/** The formula that a piece of code is; nothing when it is code. */
export function formulaIn(code: string): Formula | undefined {
  if (!code.startsWith(MARK)) return undefined;
  const isDisplay = code.startsWith(MARK + MARK);
  return { tex: code.slice(isDisplay ? 2 : 1), isDisplay };
}
