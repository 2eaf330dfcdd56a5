import { Validator } from "@cfworker/json-schema";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { meantInput } from "../conversation/checked/meant-input.ts";
import type { Json } from "../conversation/message.ts";
import { nearest } from "../conversation/shown/nearest.ts";
import { writtenInput } from "../conversation/written-input.ts";
import type { ToolSchema } from "../ports/model.ts";
import type { Checked, InputSchema, JsonSchema, Tool } from "../ports/tool.ts";
import { messageOf } from "./execute.ts";

/** A tool cannot be used as it is. */
export class ToolDefinitionError extends Error {
  override readonly name = "ToolDefinitionError";
  readonly code = "invalid-tool";
}

/**
 * The tools of an agent, ready for use: their schemas for the model, and their checks. Made once for an array of tools.
 */
export class Toolbox {
  readonly schemas: readonly ToolSchema[];
  readonly text: string;
  /** Whether one of them may begin before its message has ended. */
  hasEager = false;
  /** The names of those that take addresses `earlier:`. */
  readonly earlierReaders: readonly string[];
  #digest: string | undefined;
  readonly #tools = new Map<string, { readonly tool: Tool; readonly check: Check }>();

  private constructor(tools: readonly Tool[], check?: (tool: Tool) => void) {
    const forwards = tools.some((tool) => tool.forwards);
    this.schemas = tools.flatMap((tool) => {
      check?.(tool);
      if (this.#tools.has(tool.name))
        throw new ToolDefinitionError(`Two tools have the name "${tool.name}"; rename one.`);
      this.hasEager ||= tool.eager === true;
      const standard = "~standard" in tool.input ? (tool.input as StandardSchemaV1) : undefined;
      const schema = jsonSchemaOf(`tool "${tool.name}"`, tool.input);
      if (schema.type !== "object") {
        throw new ToolDefinitionError(`The input schema of tool "${tool.name}" must be an object's.`);
      }
      const judge = standard ? checkStandard(standard) : checkJsonSchema(schema);
      this.#tools.set(tool.name, { tool, check: asMeant(schema, judge) });
      if (forwards && tool.unlisted) return [];
      return { name: tool.name, description: tool.description, input: schema as Json };
    });
    this.text = JSON.stringify(this.schemas);
    this.earlierReaders = tools.filter(({ readsEarlier }) => readsEarlier).map(({ name }) => name);
  }

  /** Of the schemas as text. */
  get digest(): string {
    this.#digest ??= digestOf(this.text);
    return this.#digest;
  }

  static readonly #made = new WeakMap<readonly Tool[], Toolbox>();

  /** `check` throws for a tool that cannot be used; it looks at each once. Throws `ToolDefinitionError`. */
  static of(tools: readonly Tool[], check?: (tool: Tool) => void): Toolbox {
    let toolbox = Toolbox.#made.get(tools);
    if (!toolbox) {
      toolbox = new Toolbox(tools, check);
      Toolbox.#made.set(tools, toolbox);
    }
    return toolbox;
  }

  find(name: string): Tool | undefined {
    return this.#tools.get(name)?.tool;
  }

  /** The call that a call of a tool that forwards is, when it names another one; otherwise it is what it is. */
  forwarded(name: string, inputText: string): { readonly tool: string; readonly inputText: string } | undefined {
    if (!this.find(name)?.forwards) return undefined;
    const { tool, input = {} } = (writtenInput(inputText) ?? {}) as { readonly tool?: unknown; readonly input?: Json };
    const named = typeof tool === "string" ? this.find(tool) : undefined;
    if (!named || named.forwards) return undefined;
    return { tool: named.name, inputText: typeof input === "string" ? input : JSON.stringify(input) };
  }

  /** The arguments that a tool gets, or what is wrong with them. */
  check(name: string, input: Json): Checked | Promise<Checked> {
    const known = this.#tools.get(name);
    return known ? known.check(input) : { ok: false, problem: this.unknown(name) };
  }

  /** What the model is told of a tool that is not there. */
  unknown(name: string): string {
    const near = nearest(name, this.#tools.keys());
    if (near.length > 0) return `There is no tool "${name}". Did you mean ${near.join(" or ")}?`;
    if (this.#tools.size === 0) return `There is no tool "${name}", nor any other. Answer without one.`;
    return `There is no tool "${name}". There are: ${this.schemas.map((tool) => tool.name).join(", ")}.`;
  }
}

type Check = (input: Json) => Checked | Promise<Checked>;

/** Arguments that do not fit are held to the schema once more as the model meant them. */
function asMeant(schema: JsonSchema, check: Check): Check {
  return (input) => {
    const again = (checked: Checked) => {
      const meant = checked.ok ? undefined : meantInput(schema, input);
      return meant === undefined ? checked : check(meant);
    };
    const checked = check(input);
    return checked instanceof Promise ? checked.then(again) : again(checked);
  };
}

/** Names a text: 128 bits of its SHA-256, in hexadecimal. */
export function digestOf(text: string): string {
  // An agent that is only made asks for none, and needs not wait until Node has loaded its cryptography.
  return process.getBuiltinModule("node:crypto").hash("sha256", text).slice(0, 32);
}

/**
 * The JSON Schema of what a schema describes; `of` says whose it is. Throws `ToolDefinitionError` when it cannot tell.
 */
export function jsonSchemaOf(of: string, schema: InputSchema<unknown>): JsonSchema {
  if (!("~standard" in schema)) return schema as JsonSchema;
  const { jsonSchema, vendor } = schema["~standard"] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;
  if (!jsonSchema) {
    throw new ToolDefinitionError(
      `The schema of ${of} (${vendor}) cannot tell its JSON Schema; use a version of that library with Standard JSON Schema, or give a JSON Schema.`,
    );
  }
  try {
    const { $schema: _, ...rest } = jsonSchema.input({ target: "draft-2020-12" });
    return JSON.parse(JSON.stringify(rest, withoutIdleBound));
  } catch (cause) {
    throw new ToolDefinitionError(`The schema of ${of} cannot be given to a model: ${messageOf(cause)}`, { cause });
  }
}

/** That a whole number is one that a number can hold tells a model nothing, and would be sent with each request. */
function withoutIdleBound(keyword: string, value: unknown): unknown {
  const isIdle =
    (keyword === "maximum" && value === Number.MAX_SAFE_INTEGER) ||
    (keyword === "minimum" && value === Number.MIN_SAFE_INTEGER);
  return isIdle ? undefined : value;
}

/** Holds a value to a Standard Schema. */
export function checkStandard(schema: StandardSchemaV1): (input: Json) => Checked | Promise<Checked> {
  const verdict = (result: StandardSchemaV1.Result<unknown>): Checked => {
    if (!result.issues) return { ok: true, input: result.value as Json };
    const problems = result.issues.map(({ path = [], message }) => {
      const keys = path.map((key) => String(typeof key === "object" ? key.key : key));
      return `at ${keys.length > 0 ? keys.join(".") : "the top"}: ${message}`;
    });
    return { ok: false, problem: problems.join("; ") };
  };
  return (input) => {
    const result = schema["~standard"].validate(input);
    return result instanceof Promise ? result.then(verdict) : verdict(result);
  };
}

function checkJsonSchema(schema: JsonSchema): (input: Json) => Checked {
  let validator: Validator | undefined;
  return (input) => {
    // Of hundreds of tools, few are called.
    validator ??= new Validator(schema as ConstructorParameters<typeof Validator>[0], "2020-12", false);
    const result = validator.validate(input);
    if (result.valid) return { ok: true, input };
    // The validator reports each level on the way down; only those that hold no other one say what is wrong.
    const { errors } = result;
    // Thousands of wrong items are wrong in a few ways: these are compared, and the first problems are told.
    const places = new Set(errors.map(({ keywordLocation }) => keywordLocation));
    const inner = new Set([...places].filter((place) => ![...places].some((other) => other.startsWith(`${place}/`))));
    const problems = errors
      .filter(({ keywordLocation }) => inner.has(keywordLocation))
      .map(({ instanceLocation, error }) => {
        const keys = instanceLocation.split("/").slice(1);
        return `at ${keys.length > 0 ? keys.join(".") : "the top"}: ${error.replace(/\.$/, "")}`;
      });
    const told = [...new Set(problems)];
    const more = told.length > MOST_PROBLEMS ? `; and ${told.length - MOST_PROBLEMS} more` : "";
    return { ok: false, problem: `${told.slice(0, MOST_PROBLEMS).join("; ")}${more}` };
  };
}

/** Problems of arguments that a model is told: it mends those, and is told of the others then. */
const MOST_PROBLEMS = 8;
