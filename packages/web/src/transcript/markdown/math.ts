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
 * opens one only before a sign and closes it only behind one, with no digit, letter or brace after it, nor
 * `R$ 5`, say.
 */
const SPANS =
  /(?<fence>`+)[\s\S]*?(?<!`)\k<fence>(?!`)|\\\\|\$\$(?<block>[^$]+?)\$\$|\\\[(?<square>[\s\S]+?)\\\]|\\\((?<round>[\s\S]+?)\\\)|\\[^([]|(?<![$\w])\$(?=[^\s$])(?<inline>(?:\\.|[^$\\\n])+?)(?<=\S)\$(?![\w${]|(?<=\W[A-Z]{1,2}\$)\s?\d)/g;

/**
 * A block of Markdown in which formulas are marked code: what stands in code means nothing in Markdown, and in TeX it is to mean
 * nothing either. A block that is code itself, or that shows no formula, stays as it is.
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
    // In a quotation or a list, the marks of its lines are none of the formula.
    if (/\n\s*\n|\n\s*>/.test(tex) || !isFormula(tex.trim(), mark)) {
      // The sign that seemed to end the formula may begin a formula.
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

/** The formula that a piece of code is; nothing when it is code. */
export function formulaIn(code: string): Formula | undefined {
  if (!code.startsWith(MARK)) return undefined;
  const isDisplay = code.startsWith(MARK + MARK);
  return { tex: code.slice(isDisplay ? 2 : 1), isDisplay };
}

/** A command (`\frac`, `\,`), a power, or an index: of one letter, a bracket or a command. A name such as `snake_case` has none. */
const TEX_SIGN = /\\(?:[a-zA-Z]+|[,;:!{}|\\])|[\p{L}\p{N})\]}'!|]\s?\^|\^\{|(?<![\p{L}\p{N}_])\p{L}'?_|[)\]}]_|_\{/u;

/** The characters of formulas without such a sign: letters, numbers, operators, relations, brackets and commas. */
const PLAIN_SIGNS = /^[\p{L}\p{N}\s.,;:'!|+*/=<>()[\]≤≥≠≈±×·∈→−-]+$/u;

/** An operator or a relation. */
const OPERATOR = /[+*/=<>≤≥≠≈±×·∈→−-]/u;

/** A number, with what money is counted in, and the time that it is paid for. */
const AMOUNT = /\p{N}[\p{N}.,]*\s?(?:k|m|b|bn|mn|mio|mrd|tn|t)?(?:\/(?:h|d|y|a|mo|yr))?(?!\p{L})/giu;

/** Texts that look like an amount and are an expression as a rule: `2k`, `4m + 1`. */
const MULTIPLE = /^\p{N}[km](?:\s?[+−-]\s?[1-3])?$/u;

/** Functions whose names are written out, also by who leaves their backslash away. */
const FUNCTIONS = /(?<!\p{L})(?:sin|cos|tan|log|ln|exp|max|min|lim|mod|det|gcd|div)(?!\p{L})/gu;

/** A word of three letters or more beside another part, with a blank between: prose, where a formula would have an operator. */
const PROSE = /[\p{L}\p{N}.,;:)]\s+\p{L}{3,}|\p{L}{3,}[.,;:]?\s+[\p{L}\p{N}(]/u;

/** How a formula is marked, by dollars or brackets: two ways among words, and two by itself. */
const MARKS = ["inline", "round", "block", "square"] as const;
type Mark = (typeof MARKS)[number];

/**
 * Returns whether what stands between marks is a formula, and not money, a variable of a shell, or words in escaped brackets (W93). It
 * holds a sign of TeX and, between single dollars, no prose. Or it is an expression: letters, numbers, operators and brackets,
 * with a letter at least, with nothing but operators and commas between its parts, and no amounts of money. Among words, at
 * most three letters stand together; by itself (`\[x\]` is also a box to tick), an expression needs an operator.
 */
function isFormula(tex: string, mark: Mark): boolean {
  if (TEX_SIGN.test(tex)) {
    if (mark !== "inline") return true;
    const bare = tex
      .replaceAll(/\\(?:text\w*|math\w+|operatorname\*?|begin|end|label|tag)\s*\{[^{}]*\}/g, " + ")
      .replaceAll(/\\[a-zA-Z]+/g, " + ")
      .replaceAll(FUNCTIONS, " + ");
    // A variable of a shell, as in `${HOME_A}`.
    return !PROSE.test(bare) && !/^\{\w+\}/.test(tex);
  }
  const plain = tex.replaceAll(FUNCTIONS, "+");
  const isAlone = mark === "block" || mark === "square";
  if (!PLAIN_SIGNS.test(plain) || !/\p{L}/u.test(plain) || (!isAlone && /\p{L}{4}/u.test(plain))) return false;
  if (!/^[\p{L}\p{N}([|+−-]/u.test(plain) || !/[\p{L}\p{N})\]|'!]$/u.test(plain)) return false;
  // Two parts without an operator between, two operators of which the second is no sign, or an abbreviation.
  if (/[\p{L}\p{N})\]]\s+[\p{L}\p{N}([]|[+*/=<>±×·−-]\s*[*/)\],;]|\p{L}\./u.test(plain)) return false;
  const isMoney = !/\p{L}/u.test(plain.replaceAll(AMOUNT, "")) && !MULTIPLE.test(plain);
  return !isMoney && isBalanced(plain) && (!isAlone || OPERATOR.test(plain));
}

/** Returns whether each bracket has its other one; of an interval that is half open, it is one of the other kind. */
function isBalanced(text: string): boolean {
  let open = 0;
  for (const sign of text) {
    if (sign === "(" || sign === "[") open++;
    if (sign === ")" || sign === "]") open--;
    if (open < 0) return false;
  }
  return open === 0;
}
