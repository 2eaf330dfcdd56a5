import { type JsonRecord, parseJsonText } from "@banyan/core/shown";

/** Number of documents that are parsed before learning: for a short answer, learning costs more than parsing. */
const SHORT = 12;

/** Number of documents in a row without a common form, before learning stops. */
const PATIENCE = 8;

const NONE: ReadonlySet<string> = new Set();

/** A parsed document. The first of two documents with the same form. */
interface Example {
  readonly document: string;
  readonly text: string;
  readonly ignored: readonly IgnoredField[];
}

/** A field with a string or a number that the decoder does not read. */
interface IgnoredField {
  readonly key: string;
  readonly value: string | number;
}

/** A part of a document that changes: the content of a JSON string without its quotes, or a number. */
interface Hole {
  readonly start: number;
  readonly end: number;
  readonly kind: "text" | "string" | "number";
}

/** The form of documents: pieces that never change, with holes between them. Exactly one hole has the kind `text`. */
interface DocumentForm {
  /** The pieces before each part that changes. */
  readonly before: readonly string[];
  readonly kinds: readonly Hole["kind"][];
  readonly last: string;
}

/**
 * Reads JSON documents that differ mostly in one string, such as the events of an answer, without parsing the repeated
 * part. Fields that the decoder ignores can change too, such as a random padding or a sequence number. Two parsed
 * documents show the form. If a later document has this form, `read` returns its string as a parser would (V6).
 */
export class RepeatedDocuments {
  readonly #meaningful: ReadonlySet<string>;
  #say: (text: string) => void = () => {};
  #form: DocumentForm | undefined;
  #example: Example | undefined;
  #patience = PATIENCE;
  #parsed = 0;

  /** `meaningful`: the keys that the decoder reads, at any depth. */
  constructor(meaningful: ReadonlySet<string> = NONE) {
    this.#meaningful = meaningful;
  }

  get learns(): boolean {
    return this.#parsed > SHORT && this.#patience > 0;
  }

  /** Passes on the string of a document in the known form. Returns false for documents that the caller must parse. */
  read(document: string): boolean {
    const text = this.#form === undefined ? undefined : textIn(document, this.#form);
    if (text === undefined) {
      this.#parsed++;
      return false;
    }
    this.#say(text);
    return true;
  }

  /**
   * `text`: the only string that can change the document's meaning. `say` gets this string of later documents.
   * `records`: objects of the document, whose meaningless fields may change.
   */
  learn(document: string, text: string, say: (text: string) => void, ...records: readonly JsonRecord[]): void {
    if (this.#patience === 0 || text === "" || !document.includes(JSON.stringify(text))) return;
    const example = { document, text, ignored: records.flatMap((record) => this.#ignoredIn(record)) };
    const form = this.#example && commonForm(this.#example, example);
    if (form && textIn(document, form) === text) {
      this.#form = form;
      this.#say = say;
      this.#patience = PATIENCE;
    } else {
      this.#patience--;
    }
    this.#example = example;
  }

  #ignoredIn(record: JsonRecord): IgnoredField[] {
    const ignored: IgnoredField[] = [];
    for (const [key, value] of Object.entries(record)) {
      const isSimple = typeof value === "string" || typeof value === "number";
      if (isSimple && !this.#meaningful.has(key)) ignored.push({ key, value });
    }
    return ignored;
  }
}

/**
 * Returns the first document's form, with holes where the second document differs. The caller must check that the second
 * document has this form. Then all differences are in holes, so each hole is at the right place.
 */
function commonForm(first: Example, second: Example): DocumentForm | undefined {
  const { document, text, ignored } = first;
  if (text === second.text || ignored.length !== second.ignored.length) return undefined;
  const holes: Hole[] = [holeAt(document.indexOf(JSON.stringify(text)), text, "text")];
  for (const [index, field] of ignored.entries()) {
    const { key, value } = second.ignored[index] as IgnoredField;
    if (key !== field.key || typeof value !== typeof field.value) return undefined;
    if (value === field.value) continue;
    const hole = holeOf(document, field);
    if (!hole) return undefined;
    holes.push(hole);
  }
  holes.sort((a, b) => a.start - b.start);
  let end = 0;
  const before: string[] = [];
  for (const hole of holes) {
    // Two fields with the same value may be mistaken for each other.
    if (hole.start <= end) return undefined;
    before.push(document.slice(end, hole.start));
    end = hole.end;
  }
  return { before, kinds: holes.map(({ kind }) => kind), last: document.slice(end) };
}

/** Finds the value of a field behind its key. */
function holeOf(document: string, { key, value }: IgnoredField): Hole | undefined {
  const name = `${JSON.stringify(key)}:`;
  const written = JSON.stringify(value);
  for (let at = document.indexOf(name); at !== -1; at = document.indexOf(name, at + 1)) {
    const start = at + name.length + (document[at + name.length] === " " ? 1 : 0);
    if (!document.startsWith(written, start)) continue;
    if (typeof value === "string") return holeAt(start, value, "string");
    const end = start + written.length;
    if (/[,}\s]/.test(document[end] ?? "")) return { start, end, kind: "number" };
  }
  return undefined;
}

/** Returns the hole between the quotes of a string. */
function holeAt(quote: number, value: string, kind: "text" | "string"): Hole {
  return { start: quote + 1, end: quote + JSON.stringify(value).length - 1, kind };
}

/** Returns the text of a document in this form; undefined for other documents. */
function textIn(document: string, { before, kinds, last }: DocumentForm): string | undefined {
  const first = before[0] as string;
  const lastEnd = document.length - last.length;
  // Slices compare faster than `startsWith`, which compares character by character.
  if (lastEnd < first.length || document.slice(0, first.length) !== first || document.slice(lastEnd) !== last) return;
  let text: string | undefined;
  let start = first.length;
  for (let index = 0; index < kinds.length; index++) {
    const piece = before[index + 1];
    // The first quote that can end a string ends the hole: the checks refuse a value that contains a quote.
    const end = piece === undefined ? lastEnd : document.indexOf(piece, start);
    if (end < start) return;
    const kind = kinds[index];
    if (kind === "number") {
      if (!NUMBER.test(document.slice(start, end))) return;
    } else if (isPlainInJson(document, start, end)) {
      if (kind === "text") text = document.slice(start, end);
    } else {
      const parsed = parseString(document.slice(start, end));
      if (parsed === undefined) return;
      if (kind === "text") text = parsed;
    }
    start = end + (piece?.length ?? 0);
  }
  return text;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Unescapes the JSON string between two quotes; undefined if the text is no string or several. */
function parseString(text: string): string | undefined {
  return parseJsonText(`"${text}"`) as string | undefined;
}

function isPlainInJson(document: string, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const unit = document.charCodeAt(index);
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c) return false;
  }
  return true;
}
