import type { Word, WordPart } from "unbash";
import { UNKNOWN } from "../match.ts";

/**
 * Findings about the words of a shell script. The parser sometimes sees more inside a quote than Bash does,
 * so each piece of a word is checked against a narrow grammar, and other pieces make the script unclear.
 */
export interface Findings {
  /** The sources of the scripts that substitutions run. */
  readonly scripts: string[];
  /** True if a process substitution makes one command's output a file of another. */
  connects: boolean;
  /** The reason that a word is ambiguous, if any. */
  unclear: string | undefined;
  /** True if text becomes a substitution once something evaluates it. */
  quotedCode: boolean;
  /** True if something evaluates a variable's text: arithmetic, indirection, subscripts. */
  evaluates: boolean;
  /** The reason that the script is more than joined plain words, if any (S18). */
  beyondWords: string | undefined;
  /** True if a variable occurs outside quotes, where its value is split into words. */
  splits: boolean;
}

export function noFindings(): Findings {
  return {
    scripts: [],
    connects: false,
    unclear: undefined,
    quotedCode: false,
    evaluates: false,
    beyondWords: undefined,
    splits: false,
  };
}

/** Records that a shell script contains more than plain words, and why. */
export function beyondWords(found: Findings, why: string): void {
  found.beyondWords ??= why;
}

const PLAIN = /^[\w@%+=:,./^-]+$/;
/** Unquoted text: no quote, operator, blank or expansion that is not escaped. */
const UNQUOTED = /^(?:[^'"`$\\&;|<>() \t\n]|\\[\s\S]|\$(?![\w({['"@*#?$!-]))*$/;
const QUOTED = /^(?:[^"`$\\]|\\[\s\S]|\$(?![\w({['"@*#?$!-]))*$/;
const PARAMETER = /^\$\{(?:\w+|[@*#?$!-])?(?:\[(?:\w+|[@*])\])?[^'"\\`{}$()<>|&;\n]*\}$/;
const BEYOND_ASCII = /[\u0080-\uffff]/;
/** Characters that some systems take for a blank, and others for a letter. */
const ODD_BLANK = /[\u0085\p{Cf}]|(?! )\p{Z}/u;
const DOCUMENT = /^(?:[^`$\\]|\\[\s\S]|\\$|\$(?![\w({[@*#?$!-]))*$/;
const OPEN_BRACE = /(?<!\\)\{/;
/** A parameter whose expansion only yields its value, whole or trimmed. */
const MERE_VALUE = /^\$\{#?(?:\w+|[@*#?$!-])(?:\[[@*]\])?(?:(?::?[-+?]|[%#/^,])[\s\S]*)?\}$/;

/** Returns the value of a shell word. `UNKNOWN` replaces each piece that is known only when the command runs. */
export function readWord(word: Word, source: string, found: Findings): string {
  const raw = source.slice(word.pos, word.end);
  if (PLAIN.test(raw)) return raw;
  const pieces = word.parts;
  const value = pieces === undefined ? unquotedValue(raw, found) : piecesValue(pieces, raw, found);
  if (value.includes("$(") || value.includes("`")) found.quotedCode = true;
  // Braces turn a word into several, which need not be listed if the result is unknown anyway.
  return pieces?.some(bracesIn) || (pieces === undefined && raw !== "{}" && OPEN_BRACE.test(raw)) ? UNKNOWN : value;
}

/** Records the command substitutions in the text of an unquoted here-document. */
export function readHereDocument(text: string, pieces: readonly WordPart[] | undefined, found: Findings): void {
  let at = 0;
  for (const piece of pieces ?? [{ type: "Literal", text, value: text } as const]) {
    if (!text.startsWith(piece.text, at)) unclear(found, "a here-document is not understood");
    at += piece.text.length;
    if (piece.type !== "Literal") pieceValue(piece, found);
    else if (!DOCUMENT.test(piece.text)) unclear(found, "a here-document is not understood");
  }
  if (at !== text.length) unclear(found, "a here-document is not understood");
  if (text.includes("$(") || text.includes("`")) found.quotedCode = true;
  if (/[$`\\]/.test(text)) beyondWords(found, "a here-document is expanded");
}

/** Checks that the text between `((` and `))` is only arithmetic, without substitutions. */
export function readArithmetic(body: string, found: Findings): void {
  beyondWords(found, "arithmetic can set variables");
  let depth = 0;
  let balanced = /^[\w \t+\-*/%<>=!&|^~?:,()$]*$/.test(body) && !/\$(?!\w)|\w[ \t]+\$?\w/.test(body);
  for (const character of body) {
    if (character === "(") depth++;
    if (character === ")") depth--;
    if (depth < 0) balanced = false;
  }
  // Bash runs `$((a) || (b))` as commands: only balanced inner brackets are arithmetic.
  if (!balanced || depth !== 0) unclear(found, `'((${body}))' may be more than arithmetic`);
  if (/[A-Za-z_]/.test(body)) found.evaluates = true;
}

export function unclear(found: Findings, why: string): string {
  found.unclear ??= why;
  return UNKNOWN;
}

function piecesValue(pieces: readonly WordPart[], raw: string, found: Findings): string {
  let value = "";
  let at = 0;
  for (const piece of pieces) {
    if (!raw.startsWith(piece.text, at)) return unclear(found, `'${raw}' is not understood`);
    at += piece.text.length;
    value += pieceValue(piece, found);
  }
  return at === raw.length ? value : unclear(found, `'${raw}' is not understood`);
}

function pieceValue(piece: WordPart, found: Findings): string {
  const { text } = piece;
  switch (piece.type) {
    case "Literal":
      return unquotedValue(text, found);
    case "Glob":
      return /^(?:\*|\?|\[[\w^!.,:-]*\])$/.test(text) ? UNKNOWN : unclear(found, `'${text}' is not understood`);
    case "SingleQuoted":
      return /^'[^']*'$/.test(text) ? text.slice(1, -1) : unclear(found, "a quote is not closed");
    case "AnsiCQuoted":
      if (!/^\$'(?:[^'\\]|\\[\s\S])*'$/.test(text)) return unclear(found, "a quote is not closed");
      // A POSIX shell ends this quote elsewhere.
      beyondWords(found, "shells read $'...' differently");
      if (!text.includes("\\")) return text.slice(2, -1);
      if (!/^\$'(?:[^'\\]|\\[nt\\'"])*'$/.test(text)) found.quotedCode = true;
      return UNKNOWN;
    case "DoubleQuoted":
      return doubleQuotedValue(text, piece.parts, found);
    case "SimpleExpansion":
      found.splits = true;
      return /^\$(?:\w+|[@*#?$!-])$/.test(text) ? UNKNOWN : unclear(found, `'${text}' is not understood`);
    case "ParameterExpansion":
      if (!PARAMETER.test(text)) return unclear(found, `'${text}' is not understood`);
      if (/^\$\{\w+:?=/.test(text)) return unclear(found, `'${text}' sets a variable`);
      found.splits = true;
      if (!MERE_VALUE.test(text)) found.evaluates = true;
      if (found.evaluates || text.includes("[")) beyondWords(found, `'${text}' may evaluate something`);
      return UNKNOWN;
    case "CommandExpansion":
      return substitution(text, text.startsWith("$(") ? /^\$\(([\s\S]*)\)$/ : /^`([^`\\]*)`$/, found);
    case "ProcessSubstitution":
      found.connects = true;
      return substitution(text, /^[<>]\(([\s\S]*)\)$/, found);
    case "ArithmeticExpansion": {
      const body = /^\$\(\(([\s\S]*)\)\)$/.exec(text)?.[1];
      if (body === undefined) return unclear(found, `'${text}' is not understood`);
      readArithmetic(body, found);
      return UNKNOWN;
    }
    case "BraceExpansion":
      return /^[\w{},./@%+:=-]*$/.test(text) ? UNKNOWN : unclear(found, `'${text}' is not understood`);
    case "LocaleString":
    case "ExtendedGlob":
      return unclear(found, `'${text}' is not understood`);
  }
}

function doubleQuotedValue(text: string, pieces: readonly WordPart[], found: Findings): string {
  let value = "";
  let at = 1;
  for (const piece of pieces) {
    if (!text.startsWith(piece.text, at)) return unclear(found, `${text} is not understood`);
    at += piece.text.length;
    if (piece.type !== "Literal") value += pieceValue(piece, found);
    else if (QUOTED.test(piece.text))
      value += piece.text.replace(/\\([$`"\\\n])/g, (_, escaped: string) => (escaped === "\n" ? "" : escaped));
    else return unclear(found, `${text} is not understood`);
  }
  return at === text.length - 1 && text.startsWith('"') && text.endsWith('"')
    ? value
    : unclear(found, "a quote is not closed");
}

function substitution(text: string, form: RegExp, found: Findings): string {
  const inner = form.exec(text)?.[1];
  if (inner === undefined) return unclear(found, `'${text}' is not understood`);
  found.scripts.push(inner);
  beyondWords(found, "it has a substitution");
  return UNKNOWN;
}

/** Wildcards become unknown, since the shell replaces them by names of files. */
function unquotedValue(text: string, found: Findings): string {
  if (!UNQUOTED.test(text)) return unclear(found, `'${text}' is not understood`);
  if (BEYOND_ASCII.test(text) && ODD_BLANK.test(text)) beyondWords(found, "it has a character that may be a blank");
  return text.replace(
    /\\\n|\\([\s\S])|[*?]|\[[^\]]*\]/g,
    (piece, escaped: string | undefined) => escaped ?? (piece === "\\\n" ? "" : UNKNOWN),
  );
}

function bracesIn(piece: WordPart): boolean {
  return (
    piece.type === "BraceExpansion" || (piece.type === "Literal" && piece.text !== "{}" && OPEN_BRACE.test(piece.text))
  );
}
