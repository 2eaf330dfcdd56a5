import { dereference, type Schema } from "@cfworker/json-schema";
import { errorMessage } from "../conversation/error-message.ts";
import { isJsonRecord } from "../conversation/shape-problem.ts";

type ToolSchemaKeywords = Readonly<Record<string, unknown>>;

const TYPES = new Set<unknown>(["string", "number", "integer", "boolean", "object", "array", "null"]);

const NUMBERS = new Set([
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems"],
  ...["maxItems", "minProperties", "maxProperties", "minContains", "maxContains"],
]);
const BY_NAME = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const LISTS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const ONE = new Set([
  ...["items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "contains"],
  ...["propertyNames", "not", "if", "then", "else"],
]);

/**
 * Returns the fault in the value of a schema keyword, or nothing.
 * @example keywordProblem("required", "name") // 'required is "name", not a list of names'
 */
export function keywordProblem(keyword: string, value: unknown): string | undefined {
  if (keyword === "type") {
    const unknown = (Array.isArray(value) ? value : [value]).find((type) => !TYPES.has(type));
    return unknown === undefined
      ? undefined
      : `${JSON.stringify(unknown)} is not a type; the types are ${[...TYPES].join(", ")}`;
  }
  if (keyword === "pattern") return patternProblem(value);
  if (keyword === "required" && !(Array.isArray(value) && value.every((name) => typeof name === "string"))) {
    return `required is ${schemaExcerpt(value)}, not a list of names`;
  }
  if (keyword === "enum" && !Array.isArray(value)) return `enum is ${schemaExcerpt(value)}, not a list`;
  if (keyword === "$ref" && typeof value !== "string") return `$ref is ${schemaExcerpt(value)}, not a text`;
  if (NUMBERS.has(keyword) && typeof value !== "number") return `${keyword} is ${schemaExcerpt(value)}, not a number`;
  if (LISTS.has(keyword) && !(Array.isArray(value) && value.every(isAnySchema)))
    return `${keyword} is not a list of schemas`;
  // Up to draft 2019-09, a list of schemas describes each item.
  if (
    ONE.has(keyword) &&
    !isAnySchema(value) &&
    !(keyword === "items" && Array.isArray(value) && value.every(isAnySchema))
  ) {
    return `${keyword} is ${schemaExcerpt(value)}, not a schema`;
  }
  if (!BY_NAME.has(keyword)) return undefined;
  if (!isJsonRecord<ToolSchemaKeywords>(value) || !Object.values(value).every(isAnySchema))
    return `${keyword} contains a value that is not a schema`;
  const broken = keyword === "patternProperties" ? Object.keys(value).map(patternProblem) : [];
  return broken.find((problem) => problem !== undefined);
}

/**
 * Returns the part of a JSON Schema that cannot be used, with the reason, or nothing.
 * @example schemaProblem({ type: "text" }) // a sentence with all types, because "text" is not a type
 */
export function schemaProblem(schema: unknown): string | undefined {
  try {
    for (const [place, keywords] of schemasWithin(schema, [])) {
      for (const [keyword, value] of Object.entries(keywords)) {
        const problem = keywordProblem(keyword, value);
        if (problem !== undefined) return at(place, problem);
      }
    }
    // The resolver knows all targets of references.
    const known: ToolSchemaKeywords = dereference(schema as Schema);
    const seen = new Map<unknown, boolean>();
    for (const [place, keywords] of schemasWithin(schema, [])) {
      const { $ref, __absolute_ref__: absolute } = keywords;
      if ($ref !== undefined && known[String(absolute)] === undefined) {
        return at(place, `$ref leads to ${JSON.stringify($ref)}, which is nowhere in the schema`);
      }
      if (isEndless(keywords, known, seen))
        return at(place, "its references lead back to itself, so no value can be checked");
    }
  } catch (error) {
    return error instanceof RangeError ? "it is nested too deep" : errorMessage(error);
  }
  return undefined;
}

/** True if references lead from a schema back to itself, for the same value. */
function isEndless(schema: unknown, known: ToolSchemaKeywords, seen: Map<unknown, boolean>): boolean {
  if (!isJsonRecord<ToolSchemaKeywords>(schema) || seen.has(schema)) return seen.get(schema) ?? false;
  seen.set(schema, true);
  const { allOf, anyOf, oneOf, not, if: condition, then, else: other, __absolute_ref__: target } = schema;
  const onSameValue = [allOf, anyOf, oneOf, not, condition, then, other, known[String(target)]].flat();
  const isEndlessInside = onSameValue.some((each) => isEndless(each, known, seen));
  seen.set(schema, isEndlessInside);
  return isEndlessInside;
}

function* schemasWithin(
  schema: unknown,
  place: readonly string[],
): Generator<readonly [readonly string[], ToolSchemaKeywords]> {
  if (!isJsonRecord<ToolSchemaKeywords>(schema)) return;
  yield [place, schema];
  for (const [keyword, value] of Object.entries(schema)) {
    if (BY_NAME.has(keyword) && isJsonRecord<ToolSchemaKeywords>(value)) {
      for (const [name, inner] of Object.entries(value)) yield* schemasWithin(inner, [...place, keyword, name]);
    } else if (ONE.has(keyword) && !Array.isArray(value)) yield* schemasWithin(value, [...place, keyword]);
    else if (Array.isArray(value) && (LISTS.has(keyword) || keyword === "items")) {
      for (const [index, inner] of value.entries()) yield* schemasWithin(inner, [...place, keyword, String(index)]);
    }
  }
}

function patternProblem(pattern: unknown): string | undefined {
  if (typeof pattern !== "string") return `pattern is ${schemaExcerpt(pattern)}; it is a regular expression`;
  try {
    // The validator uses the same flag.
    new RegExp(pattern, "u");
    return undefined;
  } catch (error) {
    return `its pattern is no regular expression: ${errorMessage(error)}`;
  }
}

function at(place: readonly string[], problem: string): string {
  return `at ${place.length === 0 ? "the top" : place.join(".")}: ${problem}`;
}

function schemaExcerpt(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 80) ?? typeof value;
}

function isAnySchema(value: unknown): boolean {
  return typeof value === "boolean" || isJsonRecord<ToolSchemaKeywords>(value);
}
