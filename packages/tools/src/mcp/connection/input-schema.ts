import type { JsonSchema } from "@banyan/core";
import { keywordProblem, modernSchema, schemaProblem } from "@banyan/core/hosts";

const DEEPEST = 64;

/** Keywords that identify a schema and constrain no value. The ids of two servers can clash. */
const ORIGIN = new Set(["$schema", "$id", "$anchor", "$dynamicAnchor", "$vocabulary"]);

const DATA = new Set(["const", "default", "enum", "examples", "required"]);

const BY_NAME = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);

/** Keywords that reject names which `patternProperties` may allow. */
const CLOSING = new Set(["patternProperties", "additionalProperties", "unevaluatedProperties"]);

const LEFT = new Set(["pattern", "patternProperties"]);

type ServerInputSchema = Readonly<Record<string, unknown>>;

/** The input schema of an MCP tool, in the form that the engine checks. */
export interface ServerSchema {
  readonly schema: JsonSchema;
  /** The parts of the schema that the engine cannot check. Only the server checks them. */
  readonly unread: readonly string[];
}

/**
 * Converts the input schema of an MCP tool for the engine. Converts keywords of other versions and dialects of JSON
 * Schema by their meaning (F43). Removes regular expressions, because a hostile expression can run for ever. Also
 * removes unreadable parts, such as references to nothing. The server checks all arguments anyway. The description
 * tells the model which expressions were removed.
 */
export function inputSchema(declared: ServerInputSchema): ServerSchema {
  const open: JsonSchema = { type: "object", properties: {} };
  const unread = new Set<string>();
  try {
    const read = schemaFrom(declared, { schema: declared, unread }, 0);
    const schema: JsonSchema = isSchemaObject(read) ? { ...open, ...read, type: "object" } : open;
    // The remaining schema may refer to removed parts.
    const problem = schemaProblem(schema);
    return problem === undefined ? { schema, unread: [...unread] } : { schema: open, unread: [...unread, problem] };
  } catch (error) {
    if (error instanceof RangeError) return { schema: open, unread: ["it is nested too deep"] };
    throw error;
  }
}

interface SchemaReading {
  readonly schema: ServerInputSchema;
  readonly unread: Set<string>;
}

function schemaFrom(written: unknown, root: SchemaReading, depth: number): unknown {
  if (depth > DEEPEST) throw new RangeError("The schema is nested too deeply.");
  if (Array.isArray(written)) return written.map((inner) => schemaFrom(inner, root, depth + 1));
  if (!isSchemaObject(written)) return written;
  const declared = modernSchema(written);
  const entries = Object.entries(declared).flatMap(([keyword, value]): [string, unknown][] => {
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
    if (keyword === "pattern" || (CLOSING.has(keyword) && "patternProperties" in declared)) return [];
    if (DATA.has(keyword)) return [[keyword, value]];
    if (!BY_NAME.has(keyword) || !isSchemaObject(value)) return [[keyword, schemaFrom(value, root, depth + 1)]];
    const named = Object.entries(value).map(([name, inner]) => [name, schemaFrom(inner, root, depth + 1)]);
    return [[keyword, Object.fromEntries(named)]];
  });
  const schema = Object.fromEntries(entries);
  if (typeof declared.pattern !== "string") return schema;
  return { ...schema, description: [declared.description, `Matches ${declared.pattern}`].filter(Boolean).join(" ") };
}

function leadsSomewhere(reference: unknown, root: ServerInputSchema): boolean {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return false;
  const keys = reference.split("/").slice(1).map(decodePointerToken);
  return isSchemaObject(
    keys.reduce<unknown>(
      (inner, key) => (isSchemaObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
      root,
    ),
  );
}

function decodePointerToken(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    // Not percent-encoded: take the token literally.
    return token;
  }
}

function isSchemaObject(value: unknown): value is ServerInputSchema {
  return typeof value === "object" && value !== null;
}
