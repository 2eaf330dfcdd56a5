import { Validator } from "@cfworker/json-schema";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { interpretInput } from "../conversation/checked/meant-input.ts";
import { writtenInput } from "../conversation/checked/written-input.ts";
import { errorMessage } from "../conversation/error-message.ts";
import { type AssistantMessage, type Call, isSettled } from "../conversation/message.ts";
import type { Json } from "../conversation/part.ts";
import { isJsonRecord } from "../conversation/shape-problem.ts";
import { nearest } from "../conversation/shown/nearest.ts";
import { type CheckedArguments, ToolDefinitionError } from "../ports/define-tool.ts";
import type { ToolSchema } from "../ports/model.ts";
import { textDigest } from "../ports/runtime.ts";
import type { TaskAgent, Tool } from "../ports/tool.ts";
import type { InputSchema, JsonSchema } from "../ports/tool-values.ts";

/** Maximum number of subsets that a toolbox keeps. */
const MOST_SUBSETS = 100;

/** The tools of an agent with their schemas and checks. Created once per array of tools. */
export class Toolbox {
  readonly schemas: readonly ToolSchema[];
  readonly text: string;
  hasEager = false;
  /** True if a tool hands the conversation over to another agent. */
  readonly handsOver: boolean;
  /** Names of the tools that accept `earlier:` addresses. */
  readonly earlierReaders: readonly string[];
  #digest: string | undefined;
  readonly #subsets = new Map<string, Toolbox>();
  readonly #tools = new Map<string, { readonly tool: Tool; readonly check: ArgumentCheck }>();

  private constructor(tools: readonly Tool[], check?: (tool: Tool) => void) {
    if (check) for (const tool of tools) check(tool);
    const forwards = tools.some((tool) => tool.forwards);
    this.schemas = tools.flatMap((tool) => {
      if (this.#tools.has(tool.name))
        throw new ToolDefinitionError(`Two tools have the name "${tool.name}"; rename one.`);
      this.hasEager ||= tool.eager === true;
      const standard = "~standard" in tool.input ? (tool.input as StandardSchemaV1) : undefined;
      const schema = jsonSchemaOf(`tool "${tool.name}"`, tool.input);
      if (schema.type !== "object") {
        throw new ToolDefinitionError(`The input schema of tool "${tool.name}" must describe an object.`);
      }
      const judge = standard ? checkStandard(standard) : checkJsonSchema(schema);
      this.#tools.set(tool.name, { tool, check: asMeant(schema, judge) });
      if (forwards && tool.unlisted) return [];
      return { name: tool.name, description: tool.description, input: schema as Json };
    });
    this.text = JSON.stringify(this.schemas);
    this.handsOver = tools.some(({ handsTo }) => handsTo !== undefined);
    this.earlierReaders = tools.filter(({ readsEarlier }) => readsEarlier).map(({ name }) => name);
  }

  get digest(): string {
    this.#digest ??= textDigest(this.text);
    return this.#digest;
  }

  static readonly #made = new WeakMap<readonly Tool[], Toolbox>();

  /** Throws `ToolDefinitionError`. `check` runs once per tool. */
  static of(tools: readonly Tool[], check?: (tool: Tool) => void): Toolbox {
    let toolbox = Toolbox.#made.get(tools);
    if (!toolbox) {
      toolbox = new Toolbox(tools, check);
      Toolbox.#made.set(tools, toolbox);
    }
    return toolbox;
  }

  /**
   * Returns the toolbox of some tools, in the same order. The same names give the same toolbox, so that drivers encode
   * its schemas once. Unlisted tools stay while a tool can forward calls to them.
   */
  only(names: ReadonlySet<string>): Toolbox {
    const all = [...this.#tools.values()].map(({ tool }) => tool);
    const forwards = all.some((tool) => tool.forwards && names.has(tool.name));
    const tools = all.filter((tool) => names.has(tool.name) || (forwards && tool.unlisted));
    if (tools.length === all.length) return this;
    const key = tools.map(({ name }) => name).join();
    let subset = this.#subsets.get(key);
    if (!subset) {
      subset = new Toolbox(tools);
      if (this.#subsets.size >= MOST_SUBSETS) this.#subsets.clear();
      this.#subsets.set(key, subset);
    }
    return subset;
  }

  find(name: string): Tool | undefined {
    return this.#tools.get(name)?.tool;
  }

  /** Returns the agent to which a response hands over, if all calls have results, as the new agent may lack the tools. */
  handOffIn(response: AssistantMessage): TaskAgent | undefined {
    if (!this.handsOver || !isSettled(response)) return undefined;
    const isHandOff = ({ tool, status }: Call) => status === "completed" && this.find(tool)?.handsTo !== undefined;
    return this.find(response.calls.findLast(isHandOff)?.tool ?? "")?.handsTo?.();
  }

  /** Returns the call that a forwarding tool forwards, or nothing if the arguments name no other tool. */
  forwarded(name: string, inputText: string): { readonly tool: string; readonly inputText: string } | undefined {
    if (!this.find(name)?.forwards) return undefined;
    const { tool, input = {} } = (writtenInput(inputText) ?? {}) as { readonly tool?: unknown; readonly input?: Json };
    const named = typeof tool === "string" ? this.find(tool) : undefined;
    if (!named || named.forwards) return undefined;
    return { tool: named.name, inputText: typeof input === "string" ? input : JSON.stringify(input) };
  }

  /** Returns the arguments for a tool, or the reason why they do not match the schema. */
  check(name: string, input: Json): CheckedArguments | Promise<CheckedArguments> {
    const known = this.#tools.get(name);
    return known ? known.check(input) : { ok: false, problem: this.unknown(name) };
  }

  unknown(name: string): string {
    const near = nearest(name, this.#tools.keys());
    if (near.length > 0) return `There is no tool "${name}". Did you mean ${near.join(" or ")}?`;
    if (this.#tools.size === 0)
      return `There is no tool "${name}", and there are no other tools. Answer without tools.`;
    return `There is no tool "${name}". There are: ${this.schemas.map((tool) => tool.name).join(", ")}.`;
  }
}

type ArgumentCheck = (input: Json) => CheckedArguments | Promise<CheckedArguments>;

/** Corrects rejected arguments to what the model probably meant, and checks them again. */
function asMeant(schema: JsonSchema, check: ArgumentCheck): ArgumentCheck {
  return (input) => {
    const again = (checked: CheckedArguments) => {
      const meant = checked.ok ? undefined : interpretInput(schema, input);
      return meant === undefined ? checked : check(meant);
    };
    const checked = check(input);
    return checked instanceof Promise ? checked.then(again) : again(checked);
  };
}

/**
 * Converts a schema to JSON Schema, or throws `ToolDefinitionError`. `of`: the owner of the schema, for errors.
 * @example jsonSchemaOf("the tool look", z.object({ path: z.string() })).type // "object"
 */
export function jsonSchemaOf(of: string, schema: InputSchema<unknown>): JsonSchema {
  if (!("~standard" in schema)) return schema as JsonSchema;
  const { jsonSchema, vendor } = schema["~standard"] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;
  if (!jsonSchema) {
    throw new ToolDefinitionError(
      `The schema of ${of} (${vendor}) cannot be converted to JSON Schema. Use a version of that library that supports Standard JSON Schema, or pass a JSON Schema.`,
    );
  }
  try {
    const { $schema: _, ...rest } = jsonSchema.input({ target: "draft-2020-12" });
    return JSON.parse(JSON.stringify(rest, withoutIdleBound));
  } catch (cause) {
    const problem = errorMessage(cause).replace(/\.$/, "");
    throw new ToolDefinitionError(`The schema of ${of} cannot be sent to a model: ${problem}.`, { cause });
  }
}

/** Removes bounds of safe integers: they mean nothing to a model, but would be sent with each request. */
function withoutIdleBound(keyword: string, value: unknown): unknown {
  const isIdle =
    (keyword === "maximum" && value === Number.MAX_SAFE_INTEGER) ||
    (keyword === "minimum" && value === Number.MIN_SAFE_INTEGER);
  return isIdle ? undefined : value;
}

/** Returns the JSON Schema of a schema, and a function that checks values. Throws like `jsonSchemaOf`. */
export function schemaWithCheck(of: string, schema: InputSchema<unknown>) {
  const json = jsonSchemaOf(of, schema);
  if (JSON.stringify(json.not) === "{}" || JSON.stringify(json.enum) === "[]")
    throw new ToolDefinitionError(
      `The schema of ${of} matches no value, so a model cannot write a matching value. Change the schema.`,
    );
  const check = "~standard" in schema ? checkStandard(schema as StandardSchemaV1) : checkJsonSchema(json);
  // A provider that requires all names lets its model write null for absent ones, which a lenient schema may accept.
  return {
    json,
    check: (value: Json) => check((isJsonRecord(value) ? interpretInput(json, value) : undefined) ?? value),
  };
}

export function checkStandard(schema: StandardSchemaV1): (input: Json) => CheckedArguments | Promise<CheckedArguments> {
  const verdict = (result: StandardSchemaV1.Result<unknown>): CheckedArguments => {
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

function checkJsonSchema(schema: JsonSchema): (input: Json) => CheckedArguments {
  let validator: Validator | undefined;
  return (input) => {
    // Created at the first call, because few of hundreds of tools are called.
    validator ??= new Validator(schema as ConstructorParameters<typeof Validator>[0], "2020-12", false);
    const result = validator.validate(input);
    if (result.valid) return { ok: true, input };
    // The validator reports each level on the way down; only the innermost errors name the fault.
    const { errors } = result;
    // Thousands of wrong items have few kinds of errors: compare the kinds, and report the first problems.
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

/** The model fixes these problems and gets the others next. */
const MOST_PROBLEMS = 8;
