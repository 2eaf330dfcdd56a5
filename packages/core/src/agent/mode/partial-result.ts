import type { JSONParser, JsonTypes } from "@streamparser/json";
import type { FeedItem } from "../../conversation/feed-item.ts";
import type { Json } from "../../conversation/part.ts";
import { isJsonRecord } from "../../conversation/shape-problem.ts";
import { FINISH_TASK } from "../../run/mode.ts";

/** The part of a result that the model has written. Values of classes, such as dates, are still JSON. */
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
  // Loaded on demand: few programs read partial results.
  const { JSONParser } = await import("@streamparser/json");
  let run: string | undefined;
  let source: string | undefined;
  let reader = new PartialJson(JSONParser);
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
    if (source !== from) reader = new PartialJson(JSONParser);
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

/** Maximum nesting; a deeper text has no further partial values. */
const DEPTH = 100;

/**
 * Reads a JSON text in pieces. `value` is the value of the text so far: strings, arrays and objects grow, and other
 * values appear when they are complete. It stays as it is from where the text is not JSON: the whole result is checked
 * later. Each piece is read once, so the work grows with the length of the text.
 */
export class PartialJson {
  readonly #parser: JSONParser;
  #place: "before" | "fence" | "value" | "after" = "before";
  #last: Parameters<JSONParser["onValue"]>[0] | undefined;
  #snapshot: Json | undefined;
  #isStale = false;

  constructor(Parser: typeof JSONParser) {
    this.#parser = new Parser({ emitPartialTokens: true, emitPartialValues: true });
    this.#parser.onValue = (info) => {
      // A name, or the beginning of a number or word.
      if (info.partial && typeof info.value !== "string" && info.parent === this.#last?.parent) return;
      this.#last = info;
      this.#isStale = true;
      if (info.stack.length > DEPTH) this.#place = "after";
    };
    this.#parser.onError = () => (this.#place = "after");
  }

  push(text: string): void {
    let rest = text;
    if (this.#place === "before") {
      rest = rest.trimStart();
      if (rest !== "") this.#place = rest.startsWith("`") ? "fence" : "value";
    }
    if (this.#place === "fence") {
      const end = rest.indexOf("\n");
      if (end >= 0) this.#place = "value";
      rest = rest.slice(end + 1);
    }
    if (this.#place === "value") this.#parser.write(rest);
  }

  /** A new object after each change. Nothing before the value begins. */
  get value(): Json | undefined {
    if (!this.#isStale || !this.#last) return this.#snapshot;
    this.#isStale = false;
    const { parent, key, value, stack } = this.#last;
    const begun = Array.isArray(parent) ? [] : {};
    let inner = value === undefined ? begun : parent ? withValue(parent, key, value) : value;
    for (const outer of stack.slice(1).toReversed()) inner = withValue(outer.value, outer.key, inner);
    this.#snapshot = inner;
    return this.#snapshot;
  }
}

type ParsedValue = JsonTypes.JsonPrimitive | JsonTypes.JsonStruct;

/** Copies the container. The computed name may be `__proto__`, where an assignment would set the prototype. */
function withValue(values: JsonTypes.JsonStruct, key: JsonTypes.JsonKey, value: ParsedValue): JsonTypes.JsonStruct {
  return Array.isArray(values) ? values.toSpliced(Number(key), 1, value) : { ...values, [String(key)]: value };
}
