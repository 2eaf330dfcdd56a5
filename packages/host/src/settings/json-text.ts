import { formatKey, type KeyPath } from "./key.ts";

/** A position in a text, counted from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** A parsed JSON text, or the position of its error. */
export type JsonText =
  | { readonly ok: true; readonly value: unknown; readonly places: JsonPlaces }
  | { readonly ok: false; readonly at: TextPosition; readonly problem: string };

/** Parses a JSON text. Ignores a byte order mark. Never throws. */
export function parseJson(text: string): JsonText {
  const json = text.replace(/^\uFEFF/, "");
  try {
    return { ok: true, value: JSON.parse(json), places: new JsonPlaces(json) };
  } catch {
    // The parser does not always report the position.
    const at = breakOf(json);
    const problem =
      at >= json.length ? "the JSON ends too early" : `the JSON is not valid at ${JSON.stringify(json[at])}`;
    return { ok: false, at: positionAt(json, at), problem };
  }
}

/** Finds positions of values and names in a JSON text, on first use. */
export class JsonPlaces {
  readonly #text: string;
  #found: JsonOffsets | undefined;

  /** The text must be valid JSON. */
  constructor(text: string) {
    this.#text = text;
  }

  /** The start of the value at a path. */
  value(path: KeyPath): TextPosition | undefined {
    return this.#position(this.#all.values.get(formatKey(path)));
  }

  /** The start of the name at the end of a path. */
  name(path: KeyPath): TextPosition | undefined {
    return this.#position(this.#all.names.get(formatKey(path)));
  }

  /** Duplicate names in objects. A JSON parser silently takes the last. */
  get repeated(): readonly { readonly path: KeyPath; readonly at: TextPosition }[] {
    return this.#all.repeated.map(({ path, at }) => ({ path, at: positionAt(this.#text, at) }));
  }

  get #all(): JsonOffsets {
    this.#found ??= findJsonOffsets(this.#text);
    return this.#found;
  }

  #position(at: number | undefined): TextPosition | undefined {
    return at === undefined ? undefined : positionAt(this.#text, at);
  }
}

interface JsonOffsets {
  readonly values: Map<string, number>;
  readonly names: Map<string, number>;
  readonly repeated: { readonly path: KeyPath; readonly at: number }[];
}

interface OpenContainer {
  readonly path: KeyPath;
  readonly isList: boolean;
  /** The name or index of the next value; undefined while a name is expected. */
  next: PropertyKey | undefined;
}

/** Maximum depth for positions. */
const DEEPEST = 20;

const TOKEN = /[{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+/g;

function findJsonOffsets(text: string): JsonOffsets {
  const found: JsonOffsets = { values: new Map(), names: new Map(), repeated: [] };
  const open: OpenContainer[] = [];
  for (const { 0: token, index: at } of text.matchAll(TOKEN)) {
    const inner = open.at(-1);
    const isSought = open.length <= DEEPEST;
    if (token === "}" || token === "]") open.pop();
    else if (token === ",") {
      if (inner) inner.next = inner.isList ? Number(inner.next) + 1 : undefined;
    } else if (token === ":") continue;
    else if (inner && inner.next === undefined) {
      const name: string = JSON.parse(token);
      inner.next = name;
      if (!isSought) continue;
      const path = [...inner.path, name];
      if (found.names.has(formatKey(path))) found.repeated.push({ path, at });
      found.names.set(formatKey(path), at);
    } else {
      const path = inner?.next === undefined || !isSought ? [] : [...inner.path, inner.next];
      if (isSought) found.values.set(formatKey(path), at);
      if (token === "{" || token === "[")
        open.push({ path, isList: token === "[", next: token === "[" ? 0 : undefined });
    }
  }
  return found;
}

function positionAt(text: string, at: number): TextPosition {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Finds the error by binary search: all shorter beginnings are valid but incomplete. */
function breakOf(text: string): number {
  let fine = 0;
  let broken = text.length + 1;
  while (broken - fine > 1) {
    const middle = (fine + broken) >> 1;
    if (couldGoOn(text.slice(0, middle))) fine = middle;
    else broken = middle;
  }
  return fine;
}

function couldGoOn(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    return (
      /end of JSON input|Unterminated string/.test(message) || message.includes(`at position ${beginning.length} `)
    );
  }
}
