/**
 * Marks formulas that are written as code: a private-use character that texts do not contain. A text that contains it
 * gets a formula, which is harmless.
 */
const MARK = "\uE0F1";

/** A formula: inline, or on a line of its own. */
export interface Formula {
  readonly tex: string;
  readonly isDisplay: boolean;
}

/**
 * Code and escapes, in which no formula is looked for, and the four notations of formulas (W58). A dollar opens a
 * formula only before a non-space and closes it only after one, with no digit, letter or brace behind it. Thus `R$ 5`
 * is no formula.
 */
const SPANS =
  /(?<fence>`+)[\s\S]*?(?<!`)\k<fence>(?!`)|\\\\|\$\$(?<block>[^$]+?)\$\$|\\\[(?<square>[\s\S]+?)\\\]|\\\((?<round>[\s\S]+?)\\\)|\\[^([]|(?<![$\w])\$(?=[^\s$])(?<inline>(?:\\.|[^$\\\n])+?)(?<=\S)\$(?![\w${]|(?<=\W[A-Z]{1,2}\$)\s?\d)/g;

/**
 * Replaces each formula in a Markdown block by inline code with a mark (see `formulaIn`), so that the Markdown parser
 * leaves it as it is. Code blocks and blocks without a formula stay unchanged.
 */
export function formulasAsCode(raw: string): string {
  if (!/\$|\\[([]/.test(raw) || /^( {4}|\t|\s{0,3}(```|~~~))/.test(raw)) return raw;
  const spans = new RegExp(SPANS);
  let written = "";
  let from = 0;
  for (let span = spans.exec(raw); span; span = spans.exec(raw)) {
    const mark = MARKS.find((each) => span.groups?.[each] !== undefined);
    if (!mark) continue;
    const tex = span.groups?.[mark] ?? "";
    // In a quotation or list, line marks are not part of a formula.
    if (/\n\s*\n|\n\s*>/.test(tex) || !isFormula(tex.trim(), mark)) {
      // The sign that seemed to end a formula may begin one.
      spans.lastIndex = span.index + 1;
      continue;
    }
    const fence = "`".repeat(1 + Math.max(0, ...[...tex.matchAll(/`+/g)].map(([ticks]) => ticks.length)));
    const begin = mark === "inline" || mark === "round" ? MARK : MARK + MARK;
    written += `${raw.slice(from, span.index)}${fence} ${begin}${tex.trim()} ${fence}`;
    from = spans.lastIndex;
  }
  return written + raw.slice(from);
}

/** Returns the formula in inline code of `formulasAsCode`; `undefined` for other code. */
export function formulaIn(code: string): Formula | undefined {
  if (!code.startsWith(MARK)) return undefined;
  const isDisplay = code.startsWith(MARK + MARK);
  return { tex: code.slice(isDisplay ? 2 : 1), isDisplay };
}

/** A command (`\frac`, `\,`), a power, or an index of one letter, bracket or command. A name such as `snake_case` has none. */
const TEX_SIGN = /\\(?:[a-zA-Z]+|[,;:!{}|\\])|[\p{L}\p{N})\]}'!|]\s?\^|\^\{|(?<![\p{L}\p{N}_])\p{L}'?_|[)\]}]_|_\{/u;

/** The characters of formulas without a sign of TeX: letters, numbers, operators, relations, brackets and commas. */
const PLAIN_SIGNS = /^[\p{L}\p{N}\s.,;:'!|+*/=<>()[\]≤≥≠≈±×·∈→−-]+$/u;

const OPERATOR = /[+*/=<>≤≥≠≈±×·∈→−-]/u;

/** An amount of money, with its unit and period. */
const AMOUNT = /\p{N}[\p{N}.,]*\s?(?:k|m|b|bn|mn|mio|mrd|tn|t)?(?:\/(?:h|d|y|a|mo|yr))?(?!\p{L})/giu;

/** Texts that look like an amount but usually are an expression: `2k`, `4m + 1`. */
const MULTIPLE = /^\p{N}[km](?:\s?[+−-]\s?[1-3])?$/u;

/** Written-out functions, also without their backslash. */
const FUNCTIONS = /(?<!\p{L})(?:sin|cos|tan|log|ln|exp|max|min|lim|mod|det|gcd|div)(?!\p{L})/gu;

/** A word of three letters or more next to another part, separated by a space: prose, because a formula has an operator there. */
const PROSE = /[\p{L}\p{N}.,;:)]\s+\p{L}{3,}|\p{L}{3,}[.,;:]?\s+[\p{L}\p{N}(]/u;

/** The delimiters of a formula: dollars or brackets, inline (`inline`, `round`) or separate (`block`, `square`). */
const MARKS = ["inline", "round", "block", "square"] as const;
type Mark = (typeof MARKS)[number];

/**
 * Returns whether the text between delimiters is a formula, and not money, a shell variable, or words in escaped
 * brackets (W93). A formula has a sign of TeX and, between single dollars, no prose. Otherwise it must be an
 * expression: at least one letter, only operators and commas between its parts, and no money. Inline, at most three
 * letters may be adjacent; a separate expression needs an operator, because `\[x\]` may be a checkbox.
 */
function isFormula(tex: string, mark: Mark): boolean {
  if (TEX_SIGN.test(tex)) {
    if (mark !== "inline") return true;
    const bare = tex
      .replaceAll(/\\(?:text\w*|math\w+|operatorname\*?|begin|end|label|tag)\s*\{[^{}]*\}/g, " + ")
      .replaceAll(/\\[a-zA-Z]+/g, " + ")
      .replaceAll(FUNCTIONS, " + ");
    // A shell variable, as in `${HOME_A}`.
    return !PROSE.test(bare) && !/^\{\w+\}/.test(tex);
  }
  const plain = tex.replaceAll(FUNCTIONS, "+");
  const isAlone = mark === "block" || mark === "square";
  if (!PLAIN_SIGNS.test(plain) || !/\p{L}/u.test(plain) || (!isAlone && /\p{L}{4}/u.test(plain))) return false;
  if (!/^[\p{L}\p{N}([|+−-]/u.test(plain) || !/[\p{L}\p{N})\]|'!]$/u.test(plain)) return false;
  // Two parts without an operator, two operators of which the second is no sign, or an abbreviation.
  if (/[\p{L}\p{N})\]]\s+[\p{L}\p{N}([]|[+*/=<>±×·−-]\s*[*/)\],;]|\p{L}\./u.test(plain)) return false;
  const isMoney = !/\p{L}/u.test(plain.replaceAll(AMOUNT, "")) && !MULTIPLE.test(plain);
  return !isMoney && isBalanced(plain) && (!isAlone || OPERATOR.test(plain));
}

/** Returns whether the brackets are balanced; those of a half-open interval may be of different kinds. */
function isBalanced(text: string): boolean {
  let open = 0;
  for (const sign of text) {
    if (sign === "(" || sign === "[") open++;
    if (sign === ")" || sign === "]") open--;
    if (open < 0) return false;
  }
  return open === 0;
}
