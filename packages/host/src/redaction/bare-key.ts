import type { SecretSpan } from "./span.ts";

// Finds parts of a private key whose first and last lines are missing: in another output, after a cut, or in base64.

/** A line of base64 of a key: 64 characters in OpenSSL, 70 in OpenSSH. */
const LINE = /^(?:[A-Za-z0-9+/]{70}|[A-Za-z0-9+/]{64})$/;
/** The end of a line: quotes, signs, escapes, then a line break, perhaps escaped. */
const BREAK = String.raw`(?:[^\w\n]|\\{1,8}[rt]|\^M){0,16}?(?:\\{1,8}n(?:[^\w\n]{0,12}\n)?|\n)`;
/** Before the second line: a number, a mark, a quote, a comment or a file name. */
const BETWEEN = new RegExp(`^${BREAK}[^\\n]{0,120}$`);
/** The text after the last such line, at the end of a text. */
const BEHIND = new RegExp(String.raw`^(?:[^\w\n]|\\{1,8}[rt]|\^M){0,16}(?:${BREAK}[^\n]{0,120}){0,3}$`);
/** A shorter last line after another line. */
const REST = new RegExp(
  `${BREAK}(?:(?:(?!-----)[^\\n]){0,120}?(?:[^A-Za-z0-9+/=\\n-]|-(?!-)|\\\\[nrt]))??[A-Za-z0-9+/]{4,75}={0,2}(?=[^A-Za-z0-9+/=\\n]{0,16}(?:\\n|\\\\|$))`,
  "y",
);

/** The last line of a key at the end of an incomplete text. */
const LAST_LINE = new RegExp(
  String.raw`(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{16,76}={0,2}${BREAK}[^\n]{0,40}?-{0,5}(?:E|EN|END[A-Z0-9 ]{0,40}-{0,5})?$`,
);
/** Characters at the end of a text to search. */
const LOOKED_AT = 4096;

/** Beginnings of the body of an unencrypted key: PKCS #1, PKCS #8, SEC 1, OpenSSH. */
const BODY =
  /^(?:MII[A-Za-z0-9+/]{3}IBA[AD]|MIG[A-Za-z0-9+/]AgEAMB|MIG[A-Za-z0-9+/]{2}AgEBB[DE]|MIH[A-Za-z0-9+/]AgEBBE|MHcCAQEEI|M[CF][A-Za-z0-9+/]CAQ[AE]wBQYDK2V|b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/]{40})/;

/** `-----BEGIN ` and `PRIVATE KEY-----` in base64, at each of the three alignments. */
const ENCODED =
  /LS0tLS1CRUdJTi|0tLS0tQkVHSU4g|tLS0tLUJFR0lOI|UFJJVkFURSBLRVktLS0tL|BSSVZBVEUgS0VZLS0tLS|QUklWQVRFIEtFWS0tLS0t/;
const NAMED = /-----(?:BEGIN|END)[A-Z0-9 ]{0,40}PRIVATE KEY|PRIVATE KEY(?: BLOCK)?-----/;
/** Lines of a key only, perhaps cut at both ends. */
const KEY_LINES = /^[A-Za-z0-9+/=\r\n]{36,}$/;
const WRAPPED = /(?:\r?\n[ \t>|]{0,16}[A-Za-z0-9+/_-]{16,4096})*(?:\r?\n[ \t>|]{0,16}[A-Za-z0-9+/_-]{1,15})?={0,2}/y;

/** Public or other blocks with similar lines. */
const PUBLIC = /-----BEGIN (?![A-Z0-9 ]{0,40}PRIVATE KEY)[A-Z0-9 ]{1,60}-----[^-]{0,65536}(?:-----END|$)/g;

/** Finds parts of private keys that have no `BEGIN` or `END` line near them. */
export function bareKeys(text: string): SecretSpan[] {
  const words = longWords(text);
  if (words.length === 0) return [];
  return [...bodies(text, words), ...encodedKeys(text, words), ...findKeyLines(text, words)];
}

/** Returns the index at which lines like those of a key begin, at the end of a text. Undefined if there are none. */
export function openKeyLines(text: string): number | undefined {
  const from = Math.max(0, text.length - LOOKED_AT);
  const tail = text.slice(from);
  const last = LAST_LINE.exec(tail);
  let open = last && isMixed(last[0]) ? from + last.index : undefined;
  let end = tail.length;
  for (const { start, end: behind, word } of longWords(tail).reverse()) {
    if (!BEHIND.test(tail.slice(behind, end))) break;
    if (!LINE.test(word) && !ENCODED.test(word) && !isEncodedTwice(word)) continue;
    open = from + start;
    end = start;
  }
  return open;
}

function bodies(text: string, words: readonly Base64Word[]): SecretSpan[] {
  return words
    .filter(({ word }) => BODY.test(word))
    .map(({ start, end }) => ({ start, end: wrappedEnd(text, end), kind: "private-key" }));
}

/** As in the secrets of Kubernetes. */
function encodedKeys(text: string, words: readonly Base64Word[]): SecretSpan[] {
  const found: SecretSpan[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const first = words[index];
    if (!first) break;
    const run = [first];
    for (let last = first; ; index += 1) {
      const next = words[index + 1];
      if (!next || !BETWEEN.test(text.slice(last.end, next.start))) break;
      run.push(next);
      last = next;
    }
    if (!run.some(({ word }) => ENCODED.test(word) || isEncodedTwice(word))) continue;
    const last = run.at(-1) ?? first;
    REST.lastIndex = last.end;
    const rest = REST.exec(text)?.[0] ?? "";
    const lines = run.map(({ word }) => word).join("");
    const whole = decodedFrom(lines + (/[A-Za-z0-9+/=]*$/.exec(rest)?.[0] ?? ""));
    const alone = decodedFrom(lines);
    if (NAMED.test(whole) || (KEY_LINES.test(alone) && isMixed(alone)))
      found.push({ start: first.start, end: last.end + rest.length, kind: "private-key" });
  }
  return found;
}

function decodedFrom(base64: string): string {
  return Buffer.from(base64, "base64").toString("latin1");
}

/** Base64 of base64 is rare in other texts. */
function isEncodedTwice(word: string): boolean {
  return /^[A-Za-z0-9+/=\r\n]{12}$/.test(Buffer.from(word.slice(0, 16), "base64").toString("latin1"));
}

/** Two or more key-like lines in a row. */
function findKeyLines(text: string, words: readonly Base64Word[]): SecretSpan[] {
  const found: SecretSpan[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const [first, last] = [words[index], lastLineOfRun(text, words, index)];
    if (!first || last === index) continue;
    index = last;
    const run = { start: first.start, end: words[last]?.end ?? first.end };
    REST.lastIndex = run.end;
    const end = REST.test(text) ? REST.lastIndex : run.end;
    if (isMixed(text.slice(run.start, run.end))) found.push({ start: run.start, end, kind: "private-key" });
  }
  if (found.length === 0) return found;
  const publicSpans = Array.from(
    text.matchAll(PUBLIC),
    ({ index, 0: match }) => [index, index + match.length] as const,
  );
  return found.filter(({ start }) => !publicSpans.some(([from, to]) => from <= start && start < to));
}

function lastLineOfRun(text: string, words: readonly Base64Word[], first: number): number {
  if (!LINE.test(words[first]?.word ?? "")) return first;
  let last = first;
  for (let next = first + 1; next < words.length; next += 1) {
    const [one, other] = [words[last], words[next]];
    if (!one || !other || !LINE.test(other.word) || !BETWEEN.test(text.slice(one.end, other.start))) break;
    last = next;
  }
  return last;
}

/** The end of base64 that starts at `at`, with the following lines. */
function wrappedEnd(text: string, at: number): number {
  WRAPPED.lastIndex = at;
  return WRAPPED.test(text) ? WRAPPED.lastIndex : at;
}

/** Random base64 mixes all kinds of characters. Hexadecimal digests and rulers do not, and alphabets are ordered. */
function isMixed(text: string): boolean {
  return /[A-Z]/.test(text) && /[g-z]/.test(text) && /[0-9]/.test(text) && !/ABCDEFGH|abcdefgh/.test(text);
}

interface Base64Word {
  readonly start: number;
  readonly end: number;
  readonly word: string;
}

/** Shorter words are too common to be recognized as a line of a key. */
const LONG = 48;

/** Tests one character per `LONG` characters, and scans around it only if it may be in a word. */
function longWords(text: string): Base64Word[] {
  const words: Base64Word[] = [];
  let last = 0;
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (at < last || !isOfBase64(text.charCodeAt(at))) continue;
    let start = at;
    while (start > last && isOfBase64(text.charCodeAt(start - 1))) start -= 1;
    let end = at + 1;
    while (isOfBase64(text.charCodeAt(end))) end += 1;
    last = end;
    if (end - start < LONG) continue;
    // The letter of an escape, or the `+` of a diff, is not part of the word.
    if (/[nrt]/.test(text.charAt(start)) && text.charAt(start - 1) === "\\") start += 1;
    else if (/^[+](?:.{64}|.{70}|.{76})$/.test(text.slice(start, Math.min(end, start + 78)))) start += 1;
    words.push({ start, end, word: text.slice(start, end) });
  }
  return words;
}

/** The code after the end of a text is NaN and fails every comparison. */
function isOfBase64(code: number): boolean {
  if (code >= 97) return code <= 122;
  if (code >= 65) return code <= 90;
  return code >= 47 ? code <= 57 : code === 43;
}
