import type { FileChange } from "./message.ts";

/**
 * Maximum number of characters in a file name.
 * @example "oak.png".length <= LONGEST_NAME // true
 */
export const LONGEST_NAME = 1_000;

/**
 * True if a text is padded base 64 and nothing else. Makes no copy, because the text may have 20 MB.
 * @example isBase64("SGk=") // true
 */
export function isBase64(text: string): boolean {
  if (text.length === 0 || text.length % 4 !== 0) return false;
  const odd = text.search(/[^A-Za-z0-9+/]/);
  return odd < 0 || (odd >= text.length - 2 && /^==?$/.test(text.slice(odd)));
}

/**
 * True if a text has the form `type/subtype`, optionally with parameters after a semicolon.
 * @example isMediaType("text/plain; charset=utf-8") // true
 */
export function isMediaType(text: string): boolean {
  return text.length <= 200 && /^[\w!#$&^.+-]+\/[\w!#$&^.+*-]+(?:\s*;.*)?$/s.test(text);
}

/**
 * True if a text is an address of http or https.
 * @example isWebAddress("file:///a.txt") // false
 */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/./i.test(text) && URL.canParse(text);
}

export function shownKind(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "undefined";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") {
    const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
    return typeof name === "string" && name !== "" && name !== "Object" ? `a ${name}` : "an object";
  }
  return `a ${typeof value}`;
}

export function providerProblem(provider: unknown, at: string): string | undefined {
  if (!isJsonRecord(provider)) return `${at}.provider must be an object, not ${shownKind(provider)}`;
  for (const [name, data] of Object.entries(provider))
    if (!isJsonRecord(data)) return `${at}.provider.${name} must be an object, not ${shownKind(data)}`;
  return undefined;
}

/** A parsed JSON object with unknown content. See {@link isJsonRecord}. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/**
 * Returns whether a value is an object and not a list.
 * @example isJsonRecord(["oak"]) // false
 */
export function isJsonRecord<Fields extends object = JsonRecord>(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Parses JSON. Returns undefined for any other text.
 * @example parseJsonText("{") // undefined
 */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No JSON value is undefined, so a caller can tell the two apart.
    return undefined;
  }
}

export function isJsonValue(value: unknown, depth = 0): boolean {
  if (value === null || ["string", "boolean"].includes(typeof value)) return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth >= 100) return false;
  // JSON leaves out names without a value.
  const values = Array.isArray(value) ? value : Object.values(value).filter((each) => each !== undefined);
  return values.every((each) => isJsonValue(each, depth + 1));
}

export function fileChangeProblem(change: FileChange): string | undefined {
  const { path, kind, before, after, added, removed, diff, mode } = change;
  if (typeof path !== "string" || path === "") return "A file change needs the path of its file.";
  if (!["created", "changed", "deleted"].includes(kind))
    return `The kind of a file change must be "created", "changed" or "deleted", not ${JSON.stringify(kind)}.`;
  for (const [name, content] of Object.entries({ before, after })) {
    if (content !== null && typeof content !== "string")
      return `${name} of a file change must be the digest of a content, or null if there is no file.`;
  }
  for (const [name, lines] of Object.entries({ added, removed })) {
    if (!Number.isInteger(lines) || lines < 0)
      return `${name} of a file change is ${lines}; it must be a number of lines, 0 or more.`;
  }
  for (const digits of mode === undefined ? [] : [mode?.before, mode?.after]) {
    if (digits !== null && !/^1[02]0[0-7]{3}$/.test(`${digits}`))
      return `The mode of a file change is ${JSON.stringify(digits)}; it must have six octal digits, as in "100755", or be null if there is no file.`;
  }
  return typeof diff === "string"
    ? undefined
    : "diff of a file change is a text; it is empty for a file that is no text.";
}
