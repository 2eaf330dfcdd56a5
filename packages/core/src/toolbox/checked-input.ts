import type { Json } from "../conversation/message.ts";

/** Arguments that have passed their schema. */
export interface CheckedInput {
  /** As JSON: what is logged, judged, asked about and shown. Nobody else holds it. */
  readonly input: Json;
  /** What the tool gets: the same, or what the schema made of it, such as a `Date` where `input` has its text. */
  readonly value: unknown;
}

/**
 * What a schema returned, as the one value that is judged, shown and run. A schema may return anything; what has no form in
 * JSON could run without anybody having seen it, so it is refused. Throws `TypeError`.
 */
export function checkedInput(value: unknown): CheckedInput {
  const copy = new Copy();
  const input = copy.of(value);
  // A tool may change what it gets; what is logged must not change with it.
  return { input, value: copy.isSame ? new Copy().of(input) : value };
}

/** Whether two arguments are the same, whatever the order of their names. */
export function isSameInput(one: Json | undefined, other: Json | undefined): boolean {
  return isEqual(one, other);
}

/** Returns whether two values say the same, however deep they are. */
export function isEqual(one: unknown, other: unknown): boolean {
  // An import of it makes Node load all that it names, threads and the parsing of arguments among it.
  return process.getBuiltinModule("node:util").isDeepStrictEqual(one, other);
}

/** Copies a value as one that holds nothing but JSON. What says its own form (`toJSON`: a date, an address) is taken in that. */
class Copy {
  /** Whether all that was copied so far was that already. */
  isSame = true;

  of(value: unknown, place = "the top"): Json {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        if (!Number.isFinite(value)) break;
        // JSON has one zero.
        if (!Object.is(value, -0)) return value;
        this.isSame = false;
        return 0;
      case "object":
        if (value === null) return null;
        if (Array.isArray(value)) return this.#list(value, place);
        if ("toJSON" in value && typeof value.toJSON === "function") {
          this.isSame = false;
          return this.of(value.toJSON(), place);
        }
        if (isPlain(value)) return this.#record(value, place);
    }
    const kind = typeof value === "object" ? (value?.constructor?.name ?? "object") : String(value);
    throw new TypeError(
      `at ${place} they hold something that JSON cannot say (${kind}); a schema must answer plain values, or such with toJSON`,
    );
  }

  #list(list: readonly unknown[], place: string): Json {
    if (Reflect.ownKeys(list).length !== list.length + 1) this.isSame = false;
    return Array.from(list, (item, index) => this.of(item, `${place}.${index}`));
  }

  #record(value: object, place: string): Json {
    const record: Record<string, Json> = {};
    const names = Object.keys(value);
    if (Reflect.ownKeys(value).length !== names.length) this.isSame = false;
    for (const name of names) {
      const inner: unknown = Reflect.get(value, name);
      if (inner === undefined) {
        this.isSame = false;
        continue;
      }
      const copied = this.of(inner, `${place}.${name}`);
      // Set like any other, this one would be the prototype.
      if (name === "__proto__") Object.defineProperty(record, name, { value: copied, ...OWN });
      else record[name] = copied;
    }
    return record;
  }
}

const OWN = { enumerable: true, configurable: true, writable: true } as const;

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
