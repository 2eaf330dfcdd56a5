import type { SecretSpan } from "./span.ts";

// Finds private keys of RFC 7468, also with line numbers, quotes or diff marks, or as one line with escapes. Searches
// for the end step by step: a hostile text could keep a single expression busy.

const BEGIN = /-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const BEGUN = /-----BEGIN[A-Z0-9 -]{0,64}$/;
const END = /-----END[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const ENDS = /-----END[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const ENDING = /(?:-{1,5}|-----E|-----EN|-----END[A-Z0-9 -]{0,64})?$/y;
const BETWEEN = /(?:[\s"'`,>|;$#*]|\^M|\\{1,4}[nrt]|&#1[03];|[0-9]{1,7}[\t:]|[+-] |\+(?=["'`\s$]))*/y;
const HEADER = /[A-Za-z-]{3,20}: ?[^\r\n\\"]{0,200}/y;
const LINE = /[A-Za-z0-9+/=]{16,4096}/y;
const LAST_LINE = /[A-Za-z0-9+/=]{1,15}/y;
/** A line of a key at the end of a text, after any prefix, with what may follow it. */
const LINE_BEFORE = /([A-Za-z0-9+/=]{1,4096})(?:[\s"'`,;+$]|\^M|\\[rt])*$/;

const LONGEST = 16_384;
/** Maximum characters of a prefix that each line of a key may have. */
const LONGEST_PREFIX = 200;

/** Finds private keys, also without their first or last line. The header alone is not a key. */
export function privateKeys(text: string): SecretSpan[] {
  const keys: SecretSpan[] = [];
  BEGIN.lastIndex = 0;
  for (let found = BEGIN.exec(text); found; found = BEGIN.exec(text)) {
    const body = found.index + found[0].length;
    const { end } = keyFrom(text, found.index, body);
    if (end > body) keys.push({ start: found.index, end, kind: "private-key" });
    BEGIN.lastIndex = Math.max(end, body);
  }
  let done = 0;
  for (const { index, 0: line } of text.matchAll(ENDS)) {
    const start = startOfRest(text, index, Math.max(done, index - LONGEST));
    const end = index + line.length;
    if (start < index) keys.push({ start, end, kind: "private-key" });
    done = end;
  }
  return keys;
}

/** Returns the index at which a private key begins, if its end is missing in an incomplete text. */
export function openPrivateKey(text: string): number | undefined {
  const begun = BEGUN.exec(text.slice(-80));
  if (begun) return text.length - Math.min(80, text.length) + begun.index;
  const start = text.lastIndexOf("-----BEGIN");
  if (start < 0 || text.length - start > LONGEST) return undefined;
  BEGIN.lastIndex = start;
  const found = BEGIN.exec(text);
  if (found?.index !== start) return undefined;
  return keyFrom(text, start, start + found[0].length).isOpen ? start : undefined;
}

function keyFrom(text: string, start: number, body: number): { readonly end: number; readonly isOpen: boolean } {
  const prefix = prefixOf(text, start);
  const between = (at: number) =>
    prefix ? skip(BETWEEN, text, skipPrefix(prefix, text, skip(BETWEEN, text, at))) : skip(BETWEEN, text, at);
  let end = body;
  while (end - body < LONGEST) {
    const line = between(end);
    const closed = skip(END, text, line);
    if (closed > line) return { end: end === body ? body : closed, isOpen: false };
    const next = Math.max(skip(LINE, text, line), skip(HEADER, text, line));
    if (next > line) {
      end = next;
      continue;
    }
    // A short line belongs to the key only if the key's last line follows.
    const last = between(skip(LAST_LINE, text, line));
    const ended = skip(END, text, last);
    if (ended > last) return { end: ended, isOpen: false };
    ENDING.lastIndex = last;
    return { end, isOpen: ENDING.test(text) || isPartOf(prefix, text, last) };
  }
  return { end, isOpen: false };
}

/** The prefix of each line, as before the first line, with variable numbers: `notes.txt:12:`. */
interface Prefix {
  readonly whole: RegExp;
  readonly length: number;
}

function prefixOf(text: string, start: number): Prefix | undefined {
  const before = text.slice(Math.max(0, start - LONGEST_PREFIX), start);
  const prefix = before.slice(before.lastIndexOf("\n") + 1);
  if (!/[^\s"'`,>|;$#*]/.test(prefix) || prefix.length === LONGEST_PREFIX) return undefined;
  const source = prefix.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/[:-]?[0-9]{1,7}[:-]?/g, "[:-]?[0-9]{1,7}[:-]?");
  return { whole: new RegExp(source, "y"), length: prefix.length };
}

function skipPrefix({ whole }: Prefix, text: string, at: number): number {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  // White space before it may have been skipped already.
  return Math.max(at, start > at - LONGEST_PREFIX && start > 0 ? skip(whole, text, start) : at);
}

function isPartOf(prefix: Prefix | undefined, text: string, at: number): boolean {
  return prefix !== undefined && text.length - at <= prefix.length + 8 && !text.slice(at).includes("\n");
}

/** The start of the lines before a key's end, if the key's beginning is missing. */
function startOfRest(text: string, end: number, first: number): number {
  const lineStart = text.lastIndexOf("\n", end - 1) + 1;
  let start = end;
  let isLast = true;
  for (let at = beforeBreak(text, end, lineStart, first); at > first; ) {
    const begin = Math.max(first, lastBreak(text, at));
    const [whole = "", word = ""] = LINE_BEFORE.exec(text.slice(Math.max(begin, at - 4200), at)) ?? [];
    if (word.length < (isLast ? 1 : 16)) break;
    start = at - whole.length;
    isLast = false;
    at = beforeBreak(text, begin, begin, first);
  }
  return start;
}

function beforeBreak(text: string, at: number, lineStart: number, first: number): number {
  const escaped = /(?:\\r)?\\{1,4}n["'`\s+>|]*$/.exec(text.slice(Math.max(first, at - 40), at));
  if (escaped) return at - escaped[0].length;
  return Math.max(first, lineStart - 1);
}

/** After a line break or its escape. */
function lastBreak(text: string, at: number): number {
  const escaped = text.lastIndexOf("\\n", at - 1);
  return Math.max(text.lastIndexOf("\n", at - 1) + 1, escaped < 0 ? 0 : escaped + 2);
}

function skip(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : at;
}
