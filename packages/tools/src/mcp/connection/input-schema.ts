import type { JsonSchema } from "@banyan/core";
import { keywordProblem, modernSchema, schemaProblem } from "@banyan/core/hosts";

/** Schemas are written by hand or made from types: one that is deeper than this is neither. */
const DEEPEST = 64;

/** Keywords that say where a schema comes from, not what fits it. Ids of two servers can clash. */
const ORIGIN = new Set(["$schema", "$id", "$anchor", "$dynamicAnchor", "$vocabulary"]);

/** Keywords whose value is data, in which nothing is a schema. */
const DATA = new Set(["const", "default", "enum", "examples", "required"]);

/** Keywords that hold schemas by names that the author chose. */
const BY_NAME = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);

/** Keywords that close an object to names that `patternProperties` may let in. */
const CLOSING = new Set(["patternProperties", "additionalProperties", "unevaluatedProperties"]);

/** Keywords that are left to the server, whatever they say. */
const LEFT = new Set(["pattern", "patternProperties"]);

type Schema = Readonly<Record<string, unknown>>;

/** What a server's tool takes, as the engine checks it. */
export interface ServerSchema {
  readonly schema: JsonSchema;
  /** What of it cannot be read, so that the server alone checks it. */
  readonly unread: readonly string[];
}

/**
 * The input schema of a server's tool as the engine checks it. What other versions and dialects of JSON Schema write is taken
 * as it is meant (F43). What the engine should not check is left to the server, which checks everything anyway: regular
 * expressions, since a stranger's can keep a program busy for ever (the model reads them in the description instead), and
 * what cannot be read, such as references that lead nowhere.
 */
export function inputSchema(given: Schema): ServerSchema {
  const open: JsonSchema = { type: "object", properties: {} };
  const unread = new Set<string>();
  try {
    const read = schemaFrom(given, { schema: given, unread }, 0);
    const schema: JsonSchema = isObject(read) ? { ...open, ...read, type: "object" } : open;
    // What is left may lead to what is not.
    const problem = schemaProblem(schema);
    return problem === undefined ? { schema, unread: [...unread] } : { schema: open, unread: [...unread, problem] };
  } catch (error) {
    if (error instanceof RangeError) return { schema: open, unread: ["it is nested too deep"] };
    throw error;
  }
}

/** A schema that is being read. */
interface Reading {
  readonly schema: Schema;
  readonly unread: Set<string>;
}

function schemaFrom(written: unknown, root: Reading, depth: number): unknown {
  if (depth > DEEPEST) throw new RangeError("The schema is too deep.");
  if (Array.isArray(written)) return written.map((inner) => schemaFrom(inner, root, depth + 1));
  if (!isObject(written)) return written;
  const given = modernSchema(written);
  const entries = Object.entries(given).flatMap(([keyword, value]): [string, unknown][] => {
    if (ORIGIN.has(keyword) || (keyword === "id" && typeof value === "string")) return [];
    const problem =
      keyword === "$ref" && !leadsSomewhere(value, root.schema)
        ? `$ref ${JSON.stringify(value)} leads nowhere`
        : LEFT.has(keyword)
          ? undefined
          : keywordProblem(keyword, value);
    if (problem !== undefined) {
      root.unread.add(problem);
      return [];
    }
    if (keyword === "pattern" || (CLOSING.has(keyword) && "patternProperties" in given)) return [];
    if (DATA.has(keyword)) return [[keyword, value]];
    if (!BY_NAME.has(keyword) || !isObject(value)) return [[keyword, schemaFrom(value, root, depth + 1)]];
    const named = Object.entries(value).map(([name, inner]) => [name, schemaFrom(inner, root, depth + 1)]);
    return [[keyword, Object.fromEntries(named)]];
  });
  const schema = Object.fromEntries(entries);
  if (typeof given.pattern !== "string") return schema;
  return { ...schema, description: [given.description, `Matches ${given.pattern}`].filter(Boolean).join(" ") };
}

/** Whether a reference is a JSON pointer into the schema itself, to something that is there. */
function leadsSomewhere(reference: unknown, root: Schema): boolean {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return false;
  const keys = reference.split("/").slice(1).map(decoded);
  return isObject(
    keys.reduce<unknown>((inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined), root),
  );
}

/** See RFC 6901, section 6. */
function decoded(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    // No percent encoding after all.
    return token;
  }
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null;
}
