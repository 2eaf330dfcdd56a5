import { formatKey, type KeyPath } from "./key.ts";

/** A place in a text, counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A JSON text as it was read, or where it breaks. */
export type JsonText =
  | { readonly ok: true; readonly value: unknown; readonly places: JsonPlaces }
  | { readonly ok: false; readonly at: Position; readonly problem: string };

/** Reads a JSON text. A byte order mark is passed over. Throws nothing. */
export function parseJson(text: string): JsonText {
  const json = text.replace(/^\uFEFF/, "");
  try {
    return { ok: true, value: JSON.parse(json), places: new JsonPlaces(json) };
  } catch {
    // The parser does not always tell where it stopped, so the place is looked for.
    const at = breakOf(json);
    const problem =
      at >= json.length ? "the JSON ends too early" : `the JSON is not valid at ${JSON.stringify(json[at])}`;
    return { ok: false, at: positionAt(json, at), problem };
  }
}

/** Where what stands in a JSON text. Looked for when it is first asked. */
export class JsonPlaces {
  readonly #text: string;
  #found: Found | undefined;

  /** The text must be JSON. */
  constructor(text: string) {
    this.#text = text;
  }

  /** Where the value at the end of a way begins. */
  value(path: KeyPath): Position | undefined {
    return this.#position(this.#all.values.get(formatKey(path)));
  }

  /** Where the name at the end of a way stands. */
  name(path: KeyPath): Position | undefined {
    return this.#position(this.#all.names.get(formatKey(path)));
  }

  /** The names that stand in an object more than once, of which a parser takes the last without a word. */
  get repeated(): readonly { readonly path: KeyPath; readonly at: Position }[] {
    return this.#all.repeated.map(({ path, at }) => ({ path, at: positionAt(this.#text, at) }));
  }

  get #all(): Found {
    this.#found ??= find(this.#text);
    return this.#found;
  }

  #position(at: number | undefined): Position | undefined {
    return at === undefined ? undefined : positionAt(this.#text, at);
  }
}

interface Found {
  readonly values: Map<string, number>;
  readonly names: Map<string, number>;
  readonly repeated: { readonly path: KeyPath; readonly at: number }[];
}

/** An object or a list that is open at some place of a text. */
interface Open {
  readonly path: KeyPath;
  readonly isList: boolean;
  /** The name or position of what comes next; nothing while a name is awaited. */
  next: PropertyKey | undefined;
}

/** Below this many objects and lists nobody looks for a place. */
const DEEPEST = 20;

const TOKEN = /[{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+/g;

function find(text: string): Found {
  const found: Found = { values: new Map(), names: new Map(), repeated: [] };
  const open: Open[] = [];
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

function positionAt(text: string, at: number): Position {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Where a text stops being the beginning of any JSON, by halving: every shorter beginning only lacks its end. */
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
