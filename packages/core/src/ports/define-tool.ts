import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { FeedItem } from "../conversation/feed-item.ts";
import type { Call } from "../conversation/message.ts";
import { checkArguments, type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import type { Json } from "../conversation/part.ts";
import type { Tool, ToolField } from "./tool.ts";
import type { JsonSchema } from "./tool-values.ts";

export const TOOL: OptionNames<Pick<Tool, ToolField>> = {
  name: "string!",
  description: "string!",
  input: true,
  effects: true,
  parallel: "boolean",
  eager: "boolean",
  files: true,
  folder: "function",
  control: "boolean",
  readsEarlier: "boolean",
  offeredBy: "string",
  offeredAs: "string",
  asAsked: "boolean",
  unlisted: "boolean",
  brief: "string",
  forwards: "boolean",
  handsTo: "function",
  timeout: "number",
  maxOutput: "number",
  about: "function",
  preview: "function",
  execute: true,
  toModelOutput: "function",
};

/**
 * Error of a tool with an invalid definition.
 * @example agent.send("Hello").catch((error) => console.log(error instanceof ToolDefinitionError));
 */
export class ToolDefinitionError extends Error {
  override readonly name = "ToolDefinitionError";
  readonly code = "invalid-tool";
}

/**
 * Returns a sentence about a value that makes a tool unusable. Checks neither the tool's schema nor the types of
 * values.
 */
export function toolProblem(tool: Tool): string | undefined {
  if (!/^[\w-]{1,64}$/.test(tool.name)) {
    return `"${tool.name}" cannot name a tool: use 1 to 64 letters, digits, "_" and "-".`;
  }
  if (typeof tool.execute !== "function") {
    return `The tool "${tool.name}" needs an execute function.`;
  }
  if (!["none", "idempotent", "external"].includes(tool.effects)) {
    return `The tool "${tool.name}" must declare its effects: "none", "idempotent" or "external".`;
  }
  if (typeof tool.input !== "object" || tool.input === null) {
    return `The tool "${tool.name}" needs an input schema: a JSON Schema of an object, or a Standard Schema.`;
  }
  if (tool.timeout !== undefined && !(tool.timeout > 0)) {
    return `The timeout of tool "${tool.name}" is ${tool.timeout}; it must be a positive number of milliseconds.`;
  }
  if (tool.maxOutput !== undefined && !(tool.maxOutput > 0)) {
    return `The maxOutput of tool "${tool.name}" is ${tool.maxOutput}; it must be a positive number of bytes.`;
  }
  if (tool.files !== undefined && !["read", "write"].includes(tool.files)) {
    return `The tool "${tool.name}" has the option files: ${JSON.stringify(tool.files)}. Use "read" or "write", or leave the option out.`;
  }
  if (tool.eager && tool.effects !== "none") {
    return `The tool "${tool.name}" is eager and has effects. Only a tool without effects may begin early.`;
  }
  return undefined;
}

/** The type of arguments that a schema has checked. A JSON Schema has no type. */
type SchemaValue<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : unknown;

/**
 * Defines a tool. Its schema gives the type of its input, and `execute` the type of its output. Throws `OptionError`
 * for an unknown option, and `ToolDefinitionError` for an invalid value, such as missing effects.
 * @example
 * const clock = defineTool({
 *   name: "clock",
 *   description: "Tells the time.",
 *   input: z.object({ zone: z.string() }),
 *   effects: "none",
 *   execute: ({ zone }) => new Date().toLocaleTimeString("en", { timeZone: zone }),
 * });
 */
export function defineTool<Schema extends StandardSchemaV1 | JsonSchema, Output, Context = unknown>(
  tool: Omit<Tool<SchemaValue<Schema>, Output, Context>, "input" | "toModelOutput"> & {
    readonly input: Schema;
    toModelOutput?(output: NoInfer<Output>, input: SchemaValue<Schema>): string | Promise<string>;
  },
): Tool<SchemaValue<Schema>, Output, Context> {
  // Overloads would hide the name of a missing option, such as `effects`, in the compiler's message (L11).
  refuseUnknown("a tool", tool, TOOL);
  const defined = tool as object as Tool<SchemaValue<Schema>, Output, Context>;
  const problem = toolProblem(defined as Tool);
  if (problem !== undefined) throw new ToolDefinitionError(problem);
  return defined;
}

/** A value in JSON form, such as a text in place of a `Date`. */
type JsonForm<Value> = [unknown] extends [Value]
  ? Json
  : Value extends { toJSON(): infer Form }
    ? JsonForm<Form>
    : Value extends readonly (infer Item)[]
      ? readonly JsonForm<Item>[]
      : Value extends object
        ? { readonly [Name in keyof Value]: JsonForm<Value[Name]> }
        : Value;

/** The arguments that ran, with defaults and transforms of the tool's schema, and the text of the result. */
interface ToolResult<Input> {
  readonly tool: string;
  readonly input: JsonForm<Input>;
  readonly output: string;
}

/**
 * True for a completed call of a tool: an event of the stream, or a call of a message. `input` then has the type of the
 * tool's schema, in JSON form.
 * @example
 * const input = z.object({ city: z.string() });
 * const weather = defineTool({ name: "weather", description: "Weather.", input, effects: "none", execute: () => "sunny" });
 * const agent = new Agent({ model, tools: [weather] });
 * for await (const item of agent.chat(say("How is the weather in Rome?")))
 *   if (isCallOf(item, weather)) console.log(item.input.city, item.output);
 */
export function isCallOf<Input, Item extends FeedItem>(
  item: Item,
  tool: Pick<Tool<Input>, "name" | "input">,
): item is Item & ToolResult<Input> & { readonly type: "call.completed" };
export function isCallOf<Input>(
  call: Call,
  tool: Pick<Tool<Input>, "name" | "input">,
): call is Call & ToolResult<Input>;
export function isCallOf(item: FeedItem | Call, tool: Pick<Tool, "name">): boolean {
  checkArguments("isCallOf", { item, tool }, { item: "object", tool: "object" });
  const { name } = tool;
  // Logs of older versions lack the arguments.
  if ("type" in item) return item.type === "call.completed" && item.tool === name && item.input !== undefined;
  return item.status === "completed" && item.tool === name && item.input !== undefined;
}

/** Arguments of a call after their check, or the reason why they do not match the schema. */
export type CheckedArguments =
  | { readonly ok: true; readonly input: Json }
  | { readonly ok: false; readonly problem: string };

/**
 * Error that a tool throws if the call had no effect, for example because a command could not start. Users see that the
 * call did not run, and the model reads "Not executed: " with the message.
 * @example throw new NotExecutedError("there is no shell on this system. Use the other tools.");
 */
export class NotExecutedError extends Error {
  override readonly name = "NotExecutedError";
}

export function failurePrefix(error: unknown): "Not executed" | "The tool failed" {
  return error instanceof NotExecutedError ? "Not executed" : "The tool failed";
}
