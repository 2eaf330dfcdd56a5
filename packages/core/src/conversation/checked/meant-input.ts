import type { Json } from "../part.ts";
import { isJsonRecord } from "../shape-problem.ts";
import { isTooDeep } from "./written-input.ts";

type SchemaKeywords = Readonly<Record<string, unknown>>;
type JsonKind = "null" | "string" | "boolean" | "number" | "integer" | "array" | "object";

/** Models encode a value twice, rarely three times. */
const ENCODED = 3;

/**
 * Corrects arguments that do not match their schema to the values that the model probably meant. Returns nothing if no
 * correction applies.
 * - `null`, `[]` and `""` in place of all arguments mean no arguments (F64).
 * - A string in a place that accepts no string means the JSON in the string (F64).
 * - `null` for an optional name whose schema does not accept null means absent (B82), also in a branch of `anyOf`.
 */
export function interpretInput(schema: unknown, input: Json): Json | undefined {
  const meaning = new InputReader(isJsonRecord<SchemaKeywords>(schema) ? schema : {});
  const meant = meaning.of(schema, isNothing(input) ? {} : input, 0);
  return meaning.changed || isNothing(input) ? meant : undefined;
}

function isNothing(input: Json): boolean {
  if (typeof input === "string") return input.trim() === "";
  return input === null || (Array.isArray(input) && input.length === 0);
}

class InputReader {
  changed = false;
  readonly #root: SchemaKeywords;

  constructor(root: SchemaKeywords) {
    this.#root = root;
  }

  of(given: unknown, value: Json, encoded: number): Json {
    const keywords = resolveKeywords(given, this.#root);
    if (!keywords) return value;
    if (typeof value === "string") return this.#text(keywords, value, encoded);
    if (typeof value !== "object" || value === null) return value;
    const branches = keywords.anyOf ?? keywords.oneOf;
    if (Array.isArray(branches) && !keywords.properties && !keywords.items)
      return this.of(
        branches.find((one) => this.#fits(one, value)),
        value,
        0,
      );
    if (Array.isArray(value)) return value.map((item) => this.of(keywords.items, item, 0));
    const { properties, required } = keywords;
    const known = isJsonRecord<SchemaKeywords>(properties) ? properties : {};
    const needed = new Set(Array.isArray(required) ? required : []);
    const kept = Object.entries(value).flatMap(([name, inner]): [string, Json][] => {
      const schema = Object.hasOwn(known, name) ? known[name] : keywords.additionalProperties;
      const isAbsent =
        inner === null && Object.hasOwn(known, name) && !needed.has(name) && !this.#takes(schema, "null");
      this.changed ||= isAbsent;
      return isAbsent ? [] : [[name, this.of(schema, inner, 0)]];
    });
    return Object.fromEntries(kept);
  }

  #text(keywords: SchemaKeywords, text: string, encoded: number): Json {
    if (encoded >= ENCODED || this.#takes(keywords, "string") || isTooDeep(text)) return text;
    let value: Json;
    try {
      value = JSON.parse(text);
    } catch {
      return text;
    }
    const inner = typeof value === "string" ? this.of(keywords, value, encoded + 1) : value;
    if (!kindsOf(inner).some((kind) => this.#takes(keywords, kind))) return text;
    this.changed = true;
    return typeof inner === "string" ? inner : this.of(keywords, inner, 0);
  }

  /** True if a value has the structure of a schema, once `null` for an optional name counts as absent. */
  #fits(given: unknown, value: Json, depth = 0): boolean {
    const schema = resolveKeywords(given, this.#root);
    if (!schema || depth > 8) return given !== false;
    const inner = (some: unknown, part: Json) => this.#fits(some, part, depth + 1);
    const { anyOf, oneOf, enum: values, properties, required, additionalProperties: others, items } = schema;
    const branches = anyOf ?? oneOf;
    if (!kindsOf(value).some((kind) => this.#takes(schema, kind))) return false;
    if (Array.isArray(branches) && !branches.some((one) => inner(one, value))) return false;
    if (typeof value !== "object" || value === null)
      return "const" in schema ? schema.const === value : !Array.isArray(values) || values.includes(value);
    if (Array.isArray(value)) return value.every((item) => inner(items, item));
    const known = isJsonRecord<SchemaKeywords>(properties) ? properties : {};
    const needed: readonly unknown[] = Array.isArray(required) ? required : [];
    return (
      needed.every((name) => Object.hasOwn(value, String(name))) &&
      Object.entries(value).every(([name, part]) =>
        Object.hasOwn(known, name)
          ? (part === null && !needed.includes(name)) || inner(known[name], part)
          : inner(others, part),
      )
    );
  }

  #takes(given: unknown, kind: JsonKind, depth = 0): boolean {
    const schema = resolveKeywords(given, this.#root);
    // For endless references the answer is unknown, so the value stays.
    if (!schema || depth > 16) return given !== false;
    const { type, enum: values, anyOf, oneOf, allOf } = schema;
    const inner = (some: unknown) => this.#takes(some, kind, depth + 1);
    if (type !== undefined && type !== kind && !(Array.isArray(type) && type.includes(kind))) return false;
    if (Array.isArray(values) && !values.some((one) => kindsOf(one).includes(kind))) return false;
    if ("const" in schema && !kindsOf(schema.const as Json).includes(kind)) return false;
    if (Array.isArray(anyOf) && !anyOf.some(inner)) return false;
    if (Array.isArray(oneOf) && !oneOf.some(inner)) return false;
    return !Array.isArray(allOf) || allOf.every(inner);
  }
}

/** A whole number is a number too. */
function kindsOf(value: Json): readonly JsonKind[] {
  if (value === null) return ["null"];
  if (Array.isArray(value)) return ["array"];
  if (typeof value === "number") return Number.isInteger(value) ? ["integer", "number"] : ["number"];
  return [typeof value as JsonKind];
}

function resolveKeywords(given: unknown, root: SchemaKeywords): SchemaKeywords | undefined {
  let schema = given;
  for (let hops = 0; isJsonRecord<SchemaKeywords>(schema) && typeof schema.$ref === "string" && hops < 16; hops++) {
    const { $ref, ...rest } = schema;
    const [, ...keys] = $ref.split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    const target = $ref.startsWith("#")
      ? keys.reduce<unknown>(
          (inner, key) => (isJsonRecord<SchemaKeywords>(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
          root,
        )
      : undefined;
    if (!isJsonRecord<SchemaKeywords>(target)) return undefined;
    schema = { ...target, ...rest };
  }
  return isJsonRecord<SchemaKeywords>(schema) ? schema : undefined;
}
