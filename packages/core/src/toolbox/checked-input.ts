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
  const input = jsonOf(value);
  // A tool may change what it gets; what is logged must not change with it.
  return { input, value: isEqual(value, input) ? jsonOf(input) : value };
}

/** Whether two arguments are the same, whatever the order of their names. */
export function isSameInput(one: Json | undefined, other: Json | undefined): boolean {
  return isEqual(one, other);
}

function isEqual(one: unknown, other: unknown): boolean {
  // An import of it makes Node load all that it names, threads and the parsing of arguments among it.
  return process.getBuiltinModule("node:util").isDeepStrictEqual(one, other);
}

/** A copy that holds nothing but JSON. What says its own form (`toJSON`: a date, an address) is taken in that form. */
function jsonOf(value: unknown, place = "the top"): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      // JSON has one zero.
      if (Number.isFinite(value)) return value === 0 ? 0 : value;
      break;
    case "object":
      if (value === null) return null;
      if (Array.isArray(value)) return Array.from(value, (item, index) => jsonOf(item, `${place}.${index}`));
      if ("toJSON" in value && typeof value.toJSON === "function") return jsonOf(value.toJSON(), place);
      if (isPlain(value)) return recordOf(value, place);
  }
  const kind = typeof value === "object" ? (value?.constructor?.name ?? "object") : String(value);
  throw new TypeError(
    `at ${place} they hold something that JSON cannot say (${kind}); a schema must answer plain values, or such with toJSON`,
  );
}

function recordOf(value: object, place: string): Json {
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  // Defines properties, so that one called __proto__ is one like any other.
  return Object.fromEntries(entries.map(([name, inner]) => [name, jsonOf(inner, `${place}.${name}`)]));
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
