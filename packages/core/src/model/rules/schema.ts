import type { Json } from "../../conversation/part.ts";
import { isJsonRecord } from "../../conversation/shape-problem.ts";
import { cutTo } from "../../conversation/shown/visible-text.ts";
import { legalName, wellFormed } from "./form.ts";
import type { RequestRules } from "./rules.ts";
import { modernSchema } from "./schema-dialect.ts";

type SchemaObject = Readonly<Record<string, Json>>;

export interface LegalSchema {
  readonly schema: Json;
  /** Map from original property names to legal property names. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Constraints that are missing in the schema, as a text for the tool's description. The text can be empty. */
  readonly said: string;
}

/** Keywords that providers refuse at the top of a schema. */
const REFUSED_AT_TOP = ["anyOf", "oneOf", "allOf", "not", "enum"] as const;

/** Maximum nesting at the top, after which a schema counts as endless. */
const DEPTH = 20;

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

/** UTF-16 units of a schema quoted in a description. */
const QUOTED = 2_000;

/**
 * Returns a schema that a provider accepts. Returns nothing if no object matches the schema, or if the schema is
 * infinite.
 */
export function legalSchema(input: Json, rules: RequestRules): LegalSchema | undefined {
  if (!isJsonRecord<SchemaObject>(input)) return undefined;
  const top = atTop(modernised(input));
  if (!top) return undefined;
  const renamed = legalPropertyNames(top.schema, rules.propertyName);
  const named = renamed.size > 0 ? withNames(top.schema, renamed) : top.schema;
  const schema = wellFormed(rules.needsItems ? withItemSchema(named) : named);
  return { schema, renamed, said: top.said };
}

/** Converts a schema to draft 2020-12, which providers read. Returns the same object if nothing changed. */
function modernised(schema: SchemaObject): SchemaObject {
  const modern = withoutOldWords(schema) as SchemaObject;
  return JSON.stringify(modern) === JSON.stringify(schema) ? schema : modern;
}

function withoutOldWords(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutOldWords);
  if (!isJsonRecord<SchemaObject>(schema)) return schema;
  // Both keywords name an older draft: `id` is the `$id` of draft 4.
  const { $schema, id, ...modern } = modernSchema(schema) as SchemaObject;
  const kept = { ...($schema === DRAFT ? { $schema } : {}), ...(typeof id === "string" ? {} : { id }) };
  return mapKeywords({ ...kept, ...modern } as SchemaObject, () => undefined, withoutOldWords);
}

/** Returns an object schema with only properties at its top. */
function atTop(root: SchemaObject): { readonly schema: SchemaObject; readonly said: string } | undefined {
  const refused = REFUSED_AT_TOP.filter((keyword) => root[keyword] !== undefined);
  if (refused.length === 0 && typeof root.$ref !== "string") {
    if (root.type === "object") return { schema: root, said: "" };
    const fits = root.type === undefined || (Array.isArray(root.type) && root.type.includes("object"));
    return fits ? { schema: { ...root, type: "object" }, said: "" } : undefined;
  }
  const flat = flattened(root, root, 0);
  if (!flat) return undefined;
  // The properties of all branches are merged; the later check of arguments enforces the rest.
  const gone = new Set<string>([
    ...REFUSED_AT_TOP,
    "$ref",
    ...(root.additionalProperties === false ? ["additionalProperties"] : []),
  ]);
  const kept = Object.fromEntries(Object.entries(root).filter(([keyword]) => !gone.has(keyword)));
  const { properties, required } = flat;
  const schema = { ...kept, type: "object", properties, ...(required.length > 0 ? { required: [...required] } : {}) };
  const conditions = refused.filter((keyword) => keyword !== "allOf");
  const said = conditions
    .map((keyword) => `${SAID[keyword]} ${cutTo(JSON.stringify(root[keyword]), QUOTED)}`)
    .join("\n");
  return { schema, said };
}

const SAID: Readonly<Record<(typeof REFUSED_AT_TOP)[number], string>> = {
  anyOf: "The arguments must also fit at least one of these JSON Schemas:",
  oneOf: "The arguments must also fit exactly one of these JSON Schemas:",
  allOf: "The arguments must also fit all of these JSON Schemas:",
  not: "The arguments must not fit this JSON Schema:",
  enum: "Arguments: one of these values:",
};

interface Flat {
  readonly properties: SchemaObject;
  readonly required: readonly string[];
}

/** Required: the schema's own names, and those that all branches require. */
function flattened(schema: Json | undefined, root: SchemaObject, depth: number): Flat | undefined {
  if (schema === true) return { properties: {}, required: [] };
  if (!isJsonRecord<SchemaObject>(schema) || depth > DEPTH) return undefined;
  if (
    schema.type !== undefined &&
    schema.type !== "object" &&
    !(Array.isArray(schema.type) && schema.type.includes("object"))
  )
    return undefined;
  let properties: SchemaObject = isJsonRecord<SchemaObject>(schema.properties) ? schema.properties : {};
  let required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === "string") : [];
  const all = [
    ...(Array.isArray(schema.allOf) ? schema.allOf : []),
    ...(typeof schema.$ref === "string" ? [resolveReference(schema.$ref, root)] : []),
  ];
  for (const branch of all) {
    const flat = flattened(branch, root, depth + 1);
    if (!flat) return undefined;
    properties = mergeSchemas(properties, flat.properties);
    required = [...new Set([...required, ...flat.required])];
  }
  for (const keyword of ["anyOf", "oneOf"] as const) {
    if (!Array.isArray(schema[keyword])) continue;
    // A branch that no object matches never applies to arguments.
    const branches = schema[keyword]
      .map((branch) => flattened(branch, root, depth + 1))
      .filter((flat) => flat !== undefined);
    if (branches.length === 0) return undefined;
    for (const flat of branches) properties = mergeSchemas(properties, flat.properties);
    const [first, ...others] = branches;
    const inAll = first?.required.filter((name) => others.every((flat) => flat.required.includes(name))) ?? [];
    required = [...new Set([...required, ...inAll])];
  }
  return { properties, required };
}

function mergeSchemas(ours: SchemaObject, theirs: SchemaObject): SchemaObject {
  const both: Record<string, Json> = { ...ours };
  for (const [name, schema] of Object.entries(theirs)) {
    const before = both[name];
    const same = before === undefined || before === true || JSON.stringify(before) === JSON.stringify(schema);
    both[name] = same ? schema : { anyOf: [before, schema] };
  }
  return both;
}

function resolveReference(ref: string, root: SchemaObject): Json | undefined {
  if (!ref.startsWith("#")) return undefined;
  let found: Json | undefined = root;
  for (const name of stepsOf(ref).slice(1)) {
    found = isJsonRecord<SchemaObject>(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}

function stepsOf(ref: string): string[] {
  return ref.split("/").map((name) => {
    const plain = name.replaceAll("~1", "/").replaceAll("~0", "~");
    try {
      return decodeURIComponent(plain);
    } catch {
      // Not a percent-escape: take it literally.
      return plain;
    }
  });
}

const BY_NAME: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
const VALUES: ReadonlySet<string> = new Set(["const", "enum", "default", "example", "examples"]);

/** Returns legal names for illegal property names, by original name. Half a surrogate pair is never legal. */
function legalPropertyNames(schema: Json, form: RegExp = /^[^\p{Surrogate}]*$/u): Map<string, string> {
  const renamed = new Map<string, string>();
  eachSchema(schema, (one) => {
    if (!isJsonRecord<SchemaObject>(one.properties)) return;
    for (const name of Object.keys(one.properties)) {
      const legal = legalName(name, form);
      if (legal !== name) renamed.set(name, legal);
    }
  });
  return renamed;
}

function eachSchema(schema: Json | undefined, visit: (schema: SchemaObject) => void): void {
  if (Array.isArray(schema)) for (const one of schema) eachSchema(one, visit);
  if (!isJsonRecord<SchemaObject>(schema)) return;
  visit(schema);
  for (const [keyword, value] of Object.entries(schema)) {
    if (VALUES.has(keyword)) continue;
    if (BY_NAME.has(keyword) && isJsonRecord<SchemaObject>(value))
      for (const inner of Object.values(value)) eachSchema(inner, visit);
    else if (typeof value === "object") eachSchema(value, visit);
  }
}

function withNames(schema: Json, renamed: ReadonlyMap<string, string>): Json {
  const legal = (name: string) => renamed.get(name) ?? name;
  const keys = (value: Json, each: (inner: Json) => Json) =>
    isJsonRecord<SchemaObject>(value)
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [legal(name), each(inner)]))
      : value;
  const names = (value: Json): Json =>
    Array.isArray(value) ? value.map((name) => (typeof name === "string" ? legal(name) : name)) : value;
  return mapKeywords(schema, (keyword, value, next) => {
    if (keyword === "properties" || keyword === "dependentSchemas") return keys(value, next);
    if (keyword === "required") return names(value);
    if (keyword === "dependentRequired") return keys(value, names);
    if (keyword === "$ref" && typeof value === "string" && value.startsWith("#")) {
      return stepsOf(value)
        .map((name, index, all) => (all[index - 1] === "properties" ? legal(name) : name))
        .map((name) => name.replaceAll("~", "~0").replaceAll("/", "~1"))
        .join("/");
    }
    return undefined;
  });
}

/** OpenAI refuses an array without `items`, rules for property names, and patterns that look ahead or behind. */
function withItemSchema(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withItemSchema);
  if (!isJsonRecord<SchemaObject>(schema)) return schema;
  const usable = Object.fromEntries(
    Object.entries(schema).filter(
      ([keyword, value]) => keyword !== "propertyNames" && !(keyword === "pattern" && looksAround(value)),
    ),
  );
  const whole = mapKeywords(usable, (_keyword, _value) => undefined, withItemSchema);
  const isArray = schema.type === "array" || (Array.isArray(schema.type) && schema.type.includes("array"));
  return isArray && !isJsonRecord<SchemaObject>(schema.items) ? { ...(whole as SchemaObject), items: {} } : whole;
}

/** True for a regular expression that looks ahead or behind, which OpenAI cannot enforce. */
export function looksAround(pattern: Json): boolean {
  return /\(\?<?[=!]/.test(String(pattern));
}

/** Changes keywords of a schema and of its nested schemas. Values that are not schemas stay. */
function mapKeywords(
  schema: Json,
  change: (keyword: string, value: Json, next: (inner: Json) => Json) => Json | undefined,
  again: (inner: Json) => Json = (inner) => mapKeywords(inner, change),
): Json {
  if (Array.isArray(schema)) return schema.map(again);
  if (!isJsonRecord<SchemaObject>(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]): [string, Json] => {
      if (VALUES.has(keyword)) return [keyword, value];
      const own = change(keyword, value, again);
      if (own !== undefined) return [keyword, own];
      if (BY_NAME.has(keyword) && isJsonRecord<SchemaObject>(value))
        return [keyword, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, again(inner)]))];
      return [keyword, typeof value === "object" ? again(value) : value];
    }),
  );
}
