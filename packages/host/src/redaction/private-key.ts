import type { Span } from "./span.ts";

// Private keys in the form of RFC 7468, also where their lines are numbered, quoted, marked as added, or one line with
// escapes. The end is looked for step by step: one expression for all of it could be kept busy by a hostile text.

const BEGIN = /-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const BEGUN = /-----BEGIN[A-Z0-9 -]{0,64}$/;
const END = /-----END[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const ENDING = /(?:-{1,5}|-----E|-----EN|-----END[A-Z0-9 -]{0,64})?$/y;
const BETWEEN = /(?:[\s"'`,>|;]|\\[nrt]|[0-9]{1,7}\t|[+-] |\+(?=["'`\s]))*/y;
const HEADER = /[A-Za-z-]{3,20}: ?[^\r\n\\"]{0,200}/y;
const LINE = /[A-Za-z0-9+/=]{16,4096}/y;
const LAST_LINE = /[A-Za-z0-9+/=]{1,15}/y;

/** Characters of the longest key that is expected. */
const LONGEST = 16_384;

/** The private keys of a text. The words alone that a key begins with are none. */
export function privateKeys(text: string): Span[] {
  const keys: Span[] = [];
  BEGIN.lastIndex = 0;
  for (let found = BEGIN.exec(text); found; found = BEGIN.exec(text)) {
    const body = found.index + found[0].length;
    const { end } = keyFrom(text, body);
    if (end > body) keys.push({ start: found.index, end, kind: "private-key" });
    BEGIN.lastIndex = Math.max(end, body);
  }
  return keys;
}

/** Where a key begins, at the end of a text, that may go on in what comes next. */
export function openPrivateKey(text: string): number | undefined {
  const begun = BEGUN.exec(text.slice(-80));
  if (begun) return text.length - Math.min(80, text.length) + begun.index;
  const start = text.lastIndexOf("-----BEGIN");
  if (start < 0 || text.length - start > LONGEST) return undefined;
  BEGIN.lastIndex = start;
  const found = BEGIN.exec(text);
  if (found?.index !== start) return undefined;
  return keyFrom(text, start + found[0].length).isOpen ? start : undefined;
}

/** How far the key goes whose body begins here, and whether it may go on where the text ends. */
function keyFrom(text: string, body: number): { readonly end: number; readonly isOpen: boolean } {
  let end = body;
  while (end - body < LONGEST) {
    const line = skip(BETWEEN, text, end);
    const closed = skip(END, text, line);
    if (closed > line) return { end: end === body ? body : closed, isOpen: false };
    const next = Math.max(skip(LINE, text, line), skip(HEADER, text, line));
    if (next > line) {
      end = next;
      continue;
    }
    // A short line is one of a key only when the end of the key follows.
    const last = skip(BETWEEN, text, skip(LAST_LINE, text, line));
    const ended = skip(END, text, last);
    if (ended > last) return { end: ended, isOpen: false };
    ENDING.lastIndex = last;
    return { end, isOpen: ENDING.test(text) };
  }
  return { end, isOpen: false };
}

function skip(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : at;
}
