import type { Json } from "../conversation/message.ts";

type Keywords = Readonly<Record<string, unknown>>;

/**
 * Arguments without the nulls that mean "not given": those of optional names whose schema does not allow null (B82). Models
 * write them where other languages have optional values. Returns nothing when there is no such null.
 */
export function withoutNulls(schema: unknown, input: Json): Json | undefined {
  const root = isKeywords(schema) ? schema : {};
  let found = false;
  const strip = (given: unknown, value: Json): Json => {
    const keywords = resolved(given, root);
    if (typeof value !== "object" || value === null || !keywords) return value;
    if (Array.isArray(value)) return value.map((item) => strip(keywords.items, item));
    const { properties, required } = keywords;
    const known = isKeywords(properties) ? properties : {};
    const needed = new Set(Array.isArray(required) ? required : []);
    const kept = Object.entries(value).flatMap(([name, inner]): [string, Json][] => {
      if (!Object.hasOwn(known, name)) return [[name, inner]];
      const isNothing = inner === null && !needed.has(name) && !allowsNull(known[name], root);
      found ||= isNothing;
      return isNothing ? [] : [[name, strip(known[name], inner)]];
    });
    return Object.fromEntries(kept);
  };
  const stripped = strip(root, input);
  return found ? stripped : undefined;
}

function allowsNull(given: unknown, root: Keywords, depth = 0): boolean {
  const schema = resolved(given, root);
  // Without an end nobody can say; then it stays.
  if (!schema || depth > 16) return given !== false;
  const { type, enum: values, anyOf, oneOf, allOf } = schema;
  const inner = (some: unknown) => allowsNull(some, root, depth + 1);
  if (type !== undefined && type !== "null" && !(Array.isArray(type) && type.includes("null"))) return false;
  if (Array.isArray(values) && !values.includes(null)) return false;
  if ("const" in schema && schema.const !== null) return false;
  if (Array.isArray(anyOf) && !anyOf.some(inner)) return false;
  if (Array.isArray(oneOf) && !oneOf.some(inner)) return false;
  return !Array.isArray(allOf) || allOf.every(inner);
}

/** A schema with what it refers to in the same document. */
function resolved(given: unknown, root: Keywords): Keywords | undefined {
  let schema = given;
  for (let hops = 0; isKeywords(schema) && typeof schema.$ref === "string" && hops < 16; hops++) {
    const { $ref, ...rest } = schema;
    const [, ...keys] = $ref.split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    const target = $ref.startsWith("#")
      ? keys.reduce<unknown>(
          (inner, key) => (isKeywords(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
          root,
        )
      : undefined;
    if (!isKeywords(target)) return undefined;
    schema = { ...target, ...rest };
  }
  return isKeywords(schema) ? schema : undefined;
}

function isKeywords(value: unknown): value is Keywords {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
