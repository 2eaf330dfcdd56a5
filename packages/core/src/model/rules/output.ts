import type { Json } from "../../conversation/part.ts";
import { isJsonRecord } from "../../conversation/shape-problem.ts";
import { wellFormed } from "./form.ts";
import type { RequestRules } from "./rules.ts";
import { looksAround } from "./schema.ts";

type SchemaObject = Readonly<Record<string, Json>>;

/** Keywords that decide which values match, and that no provider's form can express. */
const UNUSABLE = [
  ...["allOf", "not", "if", "then", "else", "patternProperties", "propertyNames", "dependencies", "dependentSchemas"],
  ...["dependentRequired", "prefixItems", "contains", "unevaluatedProperties", "unevaluatedItems", "$dynamicRef"],
];

/** Keywords that stay, by type. The check of the result enforces all others. */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  string: ["pattern", "format"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  boolean: [],
  null: [],
  array: ["minItems", "maxItems"],
};

/** Formats that OpenAI accepts. */
const FORMATS: ReadonlySet<unknown> = new Set([
  ...["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
]);

const REFERENCE = /^#(\/(\$defs|definitions)\/[^/]+)?$/;

const NULL = { type: "null" } as const;

/**
 * Returns the schema of a result in a form that a provider enforces, or nothing if there is no such form. A value of
 * this form has the structure of the original schema, if `null` for an optional name is read as absent. Its ranges and
 * patterns can be wrong, so the result must be checked.
 * @example
 * const name = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
 * const schema = legalOutput(name, rulesFor("openai.responses", "gpt-5"));
 */
export function legalOutput(schema: Json, { output: rules, propertyName }: RequestRules): SchemaObject | undefined {
  // The result would contain the changed name.
  if (!rules || !isJsonRecord<SchemaObject>(schema) || wellFormed(schema) !== schema) return undefined;
  const form: OutputForm = {
    optional: rules.optional,
    hasReferences: rules.references === true,
    propertyName,
    kept: 0,
  };
  const legal = schema.type === "object" && !schema.anyOf && !schema.oneOf ? closed(schema, form) : undefined;
  return form.kept <= (rules.optional ?? 0) ? legal : undefined;
}

interface OutputForm {
  readonly optional: number | undefined;
  readonly hasReferences: boolean;
  readonly propertyName: RegExp | undefined;
  /** Number of the properties that stayed optional. */
  kept: number;
}

/** Returns a schema whose objects have no other properties than the named ones, or nothing. */
function closed(schema: Json | undefined, form: OutputForm): SchemaObject | undefined {
  if (!isJsonRecord<SchemaObject>(schema) || UNUSABLE.some((keyword) => keyword in schema)) return undefined;
  const { $ref, anyOf, oneOf, type, description } = schema;
  const about: SchemaObject = typeof description === "string" ? { description } : {};
  // Providers refuse other keywords beside a reference.
  if (typeof $ref === "string") return form.hasReferences && REFERENCE.test($ref) ? { $ref } : undefined;
  if (anyOf !== undefined || oneOf !== undefined) {
    const isMixed = "properties" in schema || "items" in schema || (anyOf && oneOf);
    const branches = isMixed ? undefined : closedAll(anyOf ?? oneOf, form);
    return branches && { ...about, anyOf: branches };
  }
  const values = valuesOf(schema);
  const types = Array.isArray(type) ? type : type === undefined ? values && typesOf(values) : [type];
  if (!types) return undefined;
  const forms = types.map((one) => ofType(String(one), schema, values, form));
  const [only, ...others] = forms.filter((one) => one !== "none");
  if (!only || others.some((one) => !one)) return undefined;
  return others.length === 0 ? { ...about, ...only } : { ...about, anyOf: [only, ...others] as SchemaObject[] };
}

function closedAll(schemas: Json | undefined, form: OutputForm): SchemaObject[] | undefined {
  if (!Array.isArray(schemas) || schemas.length === 0) return undefined;
  const all = schemas.map((one) => closed(one, form)).filter((one) => one !== undefined);
  return all.length === schemas.length ? all : undefined;
}

function valuesOf(schema: SchemaObject): readonly Json[] | undefined {
  if ("const" in schema) return [schema.const as Json];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

function typesOf(values: readonly Json[]): string[] {
  return [...new Set(values.map((value) => (value === null ? "null" : typeof value)))];
}

/** `none`: no listed value has this type. */
function ofType(
  type: string,
  schema: SchemaObject,
  values: readonly Json[] | undefined,
  form: OutputForm,
): SchemaObject | "none" | undefined {
  if (values) {
    const own = values.filter((value) => typesOf([value])[0] === (type === "integer" ? "number" : type));
    if (type === "object" || type === "array") return undefined;
    return own.length === 0 ? "none" : { type, enum: own };
  }
  if (type === "object") return closedObject(schema, form);
  const kept = KEPT[type];
  if (!kept) return undefined;
  const bounds = Object.fromEntries(
    Object.entries(schema).filter(([keyword, value]) => kept.includes(keyword) && isTaken(keyword, value)),
  );
  if (type !== "array") return { type, ...bounds };
  const items = closed(schema.items, form);
  return items && { type, ...bounds, items };
}

/** OpenAI refuses unknown formats, and patterns that look ahead or behind. */
function isTaken(keyword: string, value: Json): boolean {
  if (keyword === "format") return FORMATS.has(value);
  return keyword !== "pattern" || !looksAround(value);
}

function closedObject(schema: SchemaObject, form: OutputForm): SchemaObject | undefined {
  const { properties, required, additionalProperties } = schema;
  // An object of any properties cannot be closed.
  if (!isJsonRecord<SchemaObject>(properties) || (additionalProperties ?? false) !== false) return undefined;
  const needed = new Set(Array.isArray(required) ? required : []);
  const entries: [string, SchemaObject][] = [];
  for (const [name, one] of Object.entries(properties)) {
    const inner = closed(one, form);
    if (!inner || form.propertyName?.test(name) === false) return undefined;
    const isOptional = !needed.has(name);
    if (isOptional && form.optional !== undefined) form.kept++;
    entries.push([name, isOptional && form.optional === undefined ? { anyOf: [inner, NULL] } : inner]);
  }
  const names = entries.map(([name]) => name);
  if ([...needed].some((name) => !names.includes(String(name)))) return undefined;
  const definitions: [string, Json][] = [];
  for (const keyword of ["$defs", "definitions"]) {
    const known = schema[keyword];
    if (known === undefined) continue;
    const inner = isJsonRecord<SchemaObject>(known) ? Object.entries(known) : [];
    const all = inner.map(([name, one]) => [name, closed(one, form)] as const);
    if (all.some(([, one]) => !one)) return undefined;
    definitions.push([keyword, Object.fromEntries(all) as SchemaObject]);
  }
  return {
    type: "object",
    properties: Object.fromEntries(entries),
    required: form.optional === undefined ? names : names.filter((name) => needed.has(name)),
    additionalProperties: false,
    ...Object.fromEntries(definitions),
  };
}
