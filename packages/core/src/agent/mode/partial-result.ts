import type { FeedItem } from "../../conversation/feed-item.ts";
import type { Json } from "../../conversation/part.ts";
import { isJsonRecord } from "../../conversation/shape-problem.ts";
import { FINISH_TASK } from "../../run/mode.ts";

/** The part of a result that the model has already written. Values of classes, such as dates, are still JSON. */
export type PartialResult<Result> = [unknown] extends [Result]
  ? unknown
  : [Json] extends [Result]
    ? Json
    : Result extends string | number | boolean | null | undefined
      ? Result
      : Result extends readonly (infer Item)[]
        ? readonly PartialResult<Item>[]
        : true extends HasMethod<Result>
          ? Json
          : { readonly [Name in keyof Result]?: PartialResult<Result[Name]> };

type HasMethod<Value> = {
  readonly [Name in keyof Value]: Value[Name] extends (...given: never) => unknown ? true : false;
}[keyof Value];

/** Yields the partial result of the first turn after each change. Then awaits the turn. */
export async function* partialResults(
  items: AsyncIterable<FeedItem>,
  turn: () => Promise<unknown>,
  mode: "chat" | "task" = "chat",
): AsyncGenerator<Json, void, undefined> {
  let run: string | undefined;
  let source: string | undefined;
  let reader = new PartialJson();
  let last: Json | undefined;
  for await (const item of items) {
    if (item.type === "run.started") run ??= item.run;
    const piece =
      mode === "chat"
        ? item.type === "text.delta" && item
        : item.type === "call.input.delta" && item.tool === FINISH_TASK && item;
    if (!piece || piece.run !== run) continue;
    const from = piece.type === "call.input.delta" ? piece.call : piece.message;
    // After a result that does not match, the model writes another result.
    if (source !== from) reader = new PartialJson();
    source = from;
    reader.push(piece.text);
    const whole = reader.value;
    const value =
      mode === "chat" || whole === undefined ? whole : isJsonRecord<Fields>(whole) ? whole.result : undefined;
    if (value !== undefined && value !== last) yield value;
    last = value;
  }
  await turn();
}

type Fields = Readonly<Record<string, Json>>;

/** An array or object whose end is missing, with its complete values. */
interface OpenValue {
  readonly values: Json[] | Record<string, Json>;
  /** The name whose value comes next. */
  name?: string | undefined;
}

/** Maximum nesting; a deeper text has no further partial values. */
const DEPTH = 100;

/**
 * Reads a JSON text in pieces. `value` is the value of the text so far: strings, arrays and objects grow, and other
 * values appear when they are complete. The reader accepts invalid text, because the whole result is checked later.
 * Each piece is read once, so the work grows with the length of the text. `@streamparser/json` does the same, but its
 * types have errors under strict options, and it adds 7 kB to bundles for browsers.
 */
export class PartialJson {
  readonly #open: OpenValue[] = [];
  #isOver = false;
  #root: Json | undefined;
  /** Content of an open string, and the escape sequence at its end. */
  #string: string | undefined;
  /** True if the open string ends with half of a surrogate pair. A test of the string would read the whole string. */
  #endsInHalf = false;
  #escape = "";
  /** A number or word whose end is missing. */
  #scalar = "";
  /** A line of Markdown before the value. */
  #fence = "";
  #snapshot: Json | undefined;
  #isStale = false;

  push(text: string): void {
    for (let at = 0; at < text.length && !this.#isOver; )
      at = this.#string === undefined ? this.#readMark(text, at) : this.#readString(text, at, this.#string);
  }

  /** A new object after each change. Nothing before the value begins. */
  get value(): Json | undefined {
    if (!this.#isStale) return this.#snapshot;
    this.#isStale = false;
    let inner = this.#openString();
    for (const { values, name } of this.#open.toReversed()) {
      const copy = Array.isArray(values) ? [...values] : { ...values };
      if (inner !== undefined) put(copy, name, inner);
      inner = copy;
    }
    this.#snapshot = inner ?? this.#root;
    return this.#snapshot;
  }

  #openString(): Json | undefined {
    const text = this.#string;
    if (text === undefined || this.#isName()) return undefined;
    // Half of a surrogate pair waits for its other half.
    return this.#endsInHalf ? text.slice(0, -1) : text;
  }

  #isName(): boolean {
    const last = this.#open.at(-1);
    return last !== undefined && !Array.isArray(last.values) && last.name === undefined;
  }

  #readMark(text: string, at: number): number {
    const char = text.charAt(at);
    if (this.#fence !== "" || (char === "`" && this.#open.length === 0)) {
      this.#fence = char === "\n" ? "" : this.#fence + char;
      return at + 1;
    }
    if (/[\w.+-]/.test(char)) {
      this.#scalar += char;
      return at + 1;
    }
    this.#endScalar();
    switch (char) {
      case '"':
        this.#string = "";
        this.#endsInHalf = false;
        this.#isStale ||= !this.#isName();
        break;
      case "{":
      case "[":
        this.#open.push({ values: char === "[" ? [] : {} });
        this.#isOver = this.#open.length > DEPTH;
        this.#isStale = true;
        break;
      case "}":
      case "]": {
        const ended = this.#open.pop();
        if (ended) this.#add(ended.values);
      }
    }
    return at + 1;
  }

  #endScalar(): void {
    if (this.#scalar === "") return;
    try {
      this.#add(JSON.parse(this.#scalar));
    } catch {
      // Not JSON: the check of the whole result says so.
      this.#isOver = true;
    }
    this.#scalar = "";
  }

  #readString(text: string, at: number, before: string): number {
    if (this.#escape !== "") {
      this.#escape += text.charAt(at);
      const length = this.#escape.startsWith("\\u") ? 6 : 2;
      if (this.#escape.length < length) return at + 1;
      const decoded = unescaped(this.#escape);
      this.#string = before + decoded;
      this.#endsInHalf = endsInHalf(decoded);
      this.#escape = "";
      this.#isStale = true;
      return at + 1;
    }
    SPECIAL.lastIndex = at;
    const end = SPECIAL.exec(text)?.index ?? text.length;
    const whole = before + text.slice(at, end);
    this.#string = whole;
    if (end > at) this.#endsInHalf = endsInHalf(text.slice(at, end));
    this.#isStale ||= end > at && !this.#isName();
    if (text[end] === "\\") this.#escape = "\\";
    if (text[end] !== '"') return end + 1;
    this.#string = undefined;
    const last = this.#open.at(-1);
    if (last && !Array.isArray(last.values) && last.name === undefined) last.name = whole;
    else this.#add(whole);
    return end + 1;
  }

  #add(value: Json): void {
    const last = this.#open.at(-1);
    if (last) {
      put(last.values, last.name, value);
      last.name = undefined;
    } else {
      this.#root = value;
      this.#isOver = true;
    }
    this.#isStale = true;
  }
}

const SPECIAL = /["\\]/g;

function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last < 0xdc00;
}

function unescaped(sequence: string): string {
  try {
    return JSON.parse(`"${sequence}"`);
  } catch {
    // Not JSON: the check of the whole result says so.
    return sequence;
  }
}

function put(values: Json[] | Record<string, Json>, name: string | undefined, value: Json): void {
  if (Array.isArray(values)) values.push(value);
  // An assignment to `__proto__` would set the prototype.
  else if (name !== undefined) {
    Object.defineProperty(values, name, { value, enumerable: true, writable: true, configurable: true });
  }
}
