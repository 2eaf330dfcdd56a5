import { isJsonRecord, type JsonRecord } from "../../conversation/shape-problem.ts";

/** Type names of other languages and dialects; `any` is no restriction. */
const TYPES: Readonly<Record<string, string | undefined>> = {
  any: "any",
  str: "string",
  text: "string",
  int: "integer",
  long: "integer",
  float: "number",
  double: "number",
  bool: "boolean",
  list: "array",
  dict: "object",
  map: "object",
  none: "null",
  nil: "null",
  None: "null",
};

/**
 * Converts one schema, without nested schemas, to JSON Schema 2020-12. Other dialects have other keywords: `nullable`
 * (OpenAPI), boolean exclusive bounds (draft 4), `required: true` in a property (draft 3), lists of `items` (up to
 * draft 2019-09), and other type names.
 * @example modernSchema({ type: "string", nullable: true }) // { type: ["string", "null"] }
 */
export function modernSchema(given: JsonRecord): JsonRecord {
  const { nullable, required, ...rest } = given;
  const typed = withType({ ...rest, ...requiredOf(given, required) }, nullable === true);
  return withTupleItems(withBounds(withBounds(typed, "minimum", "exclusiveMinimum"), "maximum", "exclusiveMaximum"));
}

function withType(schema: JsonRecord, nullable: boolean): JsonRecord {
  const { type, ...others } = schema;
  const types = [type].flat().map((one) => (typeof one === "string" && Object.hasOwn(TYPES, one) ? TYPES[one] : one));
  if (types.includes("any")) return others;
  if (type === undefined) return schema;
  if (!nullable) return { ...schema, type: Array.isArray(type) ? types : types[0] };
  const { enum: values } = schema;
  const list = Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {};
  return { ...schema, type: [...new Set([...types, "null"])], ...list };
}

function requiredOf({ properties }: JsonRecord, required: unknown): JsonRecord {
  const own = isJsonRecord(properties)
    ? Object.entries(properties).flatMap(([name, inner]) =>
        isJsonRecord(inner) && inner.required === true ? [name] : [],
      )
    : [];
  if (typeof required === "boolean" || required === null || required === undefined)
    return own.length > 0 ? { required: own } : {};
  return { required: own.length > 0 && Array.isArray(required) ? [...new Set([...required, ...own])] : required };
}

function withBounds(schema: JsonRecord, bound: string, exclusive: string): JsonRecord {
  const { [exclusive]: excludes, [bound]: limit, ...rest } = schema;
  if (typeof excludes !== "boolean") return schema;
  return limit === undefined ? rest : { ...rest, [excludes ? exclusive : bound]: limit };
}

function withTupleItems(schema: JsonRecord): JsonRecord {
  const { items, additionalItems, ...rest } = schema;
  if (!Array.isArray(items)) return schema;
  return { ...rest, prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) };
}
