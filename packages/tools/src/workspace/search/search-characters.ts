import { WorkspaceError } from "../files/error.ts";

/** The characters of words, in the syntax of a regular expression's character class. */
export const WORD = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
export const VERTICAL = "\\n\\v\\f\\r\\x85\\u2028\\u2029";

/** Character sets by the letter after a backslash, as in `\d`. Each set has the syntax of a character class. */
export const SETS: Readonly<Record<string, string>> = {
  d: "\\p{Nd}",
  w: WORD,
  s: "\\s\\x85",
  h: "\\t\\p{Zs}",
  v: VERTICAL,
};

const POSIX: Readonly<Record<string, string>> = {
  alnum: "\\p{Alphabetic}\\p{Nd}",
  alpha: "\\p{Alphabetic}",
  ascii: "\\0-\\x7f",
  blank: "\\t\\p{Zs}",
  cntrl: "\\p{Cc}",
  digit: "\\d",
  graph: "[^\\p{Cc}\\p{Cs}\\p{Cn}\\p{Z}]",
  lower: "\\p{Ll}",
  print: "[^\\p{Cc}\\p{Cs}\\p{Cn}\\p{Zl}\\p{Zp}]",
  punct: "\\p{P}\\p{S}",
  space: "\\s\\x85",
  upper: "\\p{Lu}",
  word: WORD,
  xdigit: "\\dA-Fa-f",
};

const CODE = /^(?:x\{([\dA-Fa-f]+)\}|x([\dA-Fa-f]{1,2})|u\{([\dA-Fa-f]+)\}|u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8}))/;

const CONTROLS: Readonly<Record<string, string>> = { a: "\x07", e: "\x1b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Unsupported escapes, each with a replacement. */
const OTHER_FORMS: Readonly<Record<string, string>> = {
  C: "[\\s\\S]",
  G: "^",
  M: "\\>",
  X: "\\P{M}\\p{M}*",
  Y: "\\B",
  m: "\\<",
  y: "\\b",
};

/** Reads a search pattern from beginning to end. */
export class PatternReader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  get rest(): string {
    return this.#pattern.slice(this.#at);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#pattern.length;
  }

  /** Reads `text` if it comes next. */
  takes(text: string): boolean {
    const isNext = this.#pattern.startsWith(text, this.#at);
    if (isNext) this.#at += text.length;
    return isNext;
  }

  /** Reads the match of an expression that begins with `^`. */
  match(expression: RegExp): RegExpExecArray | undefined {
    const found = expression.exec(this.rest);
    if (found) this.#at += found[0].length;
    return found ?? undefined;
  }

  character(): string {
    const character = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }
}

/** Reads an escaped character after its backslash, inside or outside a class. */
export function readCharacter(reader: PatternReader): string | undefined {
  const code = reader.match(CODE);
  if (code) return fromCode(Number.parseInt(code.slice(1).find(Boolean) ?? "", 16));
  const octal = reader.match(/^(?:o\{([0-7]+)\}|(0[0-7]{0,2}|[1-3][0-7]{2}))/);
  if (octal) return fromCode(Number.parseInt(octal[1] ?? octal[2] ?? "", 8));
  const control = reader.match(/^c([A-Za-z])/)?.[1];
  if (control) return fromCode(control.charCodeAt(0) % 32);
  const letter = reader.match(/^[aefnrt]/)?.[0];
  return letter && CONTROLS[letter];
}

/** Returns the members of a POSIX class, such as `alpha`. */
export function posixClass(name = ""): string {
  const members = Object.hasOwn(POSIX, name) ? POSIX[name] : undefined;
  if (members !== undefined) return members;
  throw invalidPattern(`[:${name}:] is no class of characters`, `There are ${Object.keys(POSIX).join(", ")}`);
}

/** Reads a Unicode property after its backslash. Returns it in the syntax of a character class. */
export function readProperty(reader: PatternReader): string | undefined {
  const found = reader.match(/^([pP])(?:\{(\^?)([^}]+)\}|(\p{L}))/u);
  if (!found) return undefined;
  const [whole, letter, not, name = found[4] ?? ""] = found;
  const isNegated = (letter === "P") !== (not === "^");
  for (const meaning of [name, `Script=${name}`, `Script=${name[0]?.toUpperCase()}${name.slice(1).toLowerCase()}`]) {
    const source = `\\${isNegated ? "P" : "p"}{${meaning}}`;
    if (isValid(source)) return source;
  }
  throw invalidPattern(`\\${whole} is no property of Unicode`, "Write \\p{L} for letters or \\p{Greek} for a script");
}

/** Returns the character after a backslash if the escape has no other meaning. */
export function ownCharacter(letter: string): string {
  if (!/[a-z\d]/i.test(letter)) return letter;
  throw invalidPattern(`\\${letter} has no meaning`, `Write ${OTHER_FORMS[letter] ?? `${letter} for the character`}`);
}

function fromCode(code: number): string {
  if (code > 0x10ffff) throw invalidPattern(`there is no character ${code.toString(16)}`);
  return String.fromCodePoint(code);
}

export function escapeCharacter(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}

/** Returns a character, by its code, in the syntax of a character class. */
export function member(character: string): { readonly source: string; readonly code: number } {
  const code = character.codePointAt(0) ?? 0;
  return { source: /[a-z\d]/i.test(character) ? character : `\\u{${code.toString(16)}}`, code };
}

let cased: readonly string[] | undefined;

/** Returns a class with the characters that a letter or class matches if case is ignored. */
export function anyCase(source: string): string {
  cased ??= Array.from({ length: 0x1f000 }, (_, code) => String.fromCodePoint(code)).filter((character) =>
    /[\p{Cased}\p{CWCM}\p{CWCF}]/v.test(character),
  );
  const [exact, folded] = [new RegExp(source, "v"), new RegExp(source, "iv")];
  const differing = cased.filter((character) => exact.test(character) !== folded.test(character));
  if (differing.length === 0) return source;
  const [added = [], removed = []] = [true, false].map((isAdded) =>
    differing.filter((character) => folded.test(character) === isAdded),
  );
  const listed = (characters: readonly string[]) => `[${characters.map((one) => member(one).source).join("")}]`;
  return removed.length > 0 ? `[[${source}--${listed(removed)}]${listed(added)}]` : `[${source}${listed(added)}]`;
}

function isValid(source: string): boolean {
  try {
    new RegExp(source, "v");
    return true;
  } catch {
    return false;
  }
}

/** Returns the error for an invalid search pattern. `advice` is the suggested replacement, without a full stop. */
export function invalidPattern(reason: string, advice?: string, cause?: unknown): WorkspaceError {
  const help = advice ?? "To find literal text, put \\ before characters such as ( [ { . * + ?";
  return new WorkspaceError("pattern", `The pattern is not a valid regular expression: ${reason}. ${help}.`, { cause });
}
