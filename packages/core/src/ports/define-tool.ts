import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import type { Json } from "../conversation/part.ts";
import type { Tool } from "./tool.ts";
import type { JsonSchema } from "./tool-values.ts";

const TOOL: OptionNames<Tool> = {
  name: true,
  description: true,
  input: true,
  effects: true,
  parallel: true,
  eager: true,
  files: true,
  folder: true,
  control: true,
  readsEarlier: true,
  offeredBy: true,
  offeredAs: true,
  asAsked: true,
  unlisted: true,
  brief: true,
  forwards: true,
  timeout: true,
  maxOutput: true,
  about: true,
  preview: true,
  execute: true,
};

/** Defines a tool. Its schema gives the type of its input, and `execute` the type of its output. */
export function defineTool<Schema extends StandardSchemaV1, Output>(
  tool: Omit<Tool, "input" | "execute" | "about" | "preview"> &
    Pick<Tool<StandardSchemaV1.InferOutput<Schema>, Output>, "execute" | "about" | "preview"> & {
      readonly input: Schema;
    },
): Tool<StandardSchemaV1.InferOutput<Schema>, Output>;
export function defineTool<Output>(
  tool: Omit<Tool<unknown, Output>, "input"> & { readonly input: JsonSchema },
): Tool<unknown, Output>;
export function defineTool(tool: object): Tool {
  refuseUnknown("a tool", tool, TOOL);
  return tool as Tool;
}

/** Checked arguments of a call, or the reason why they do not match the schema. */
export type CheckedArguments =
  | { readonly ok: true; readonly input: Json }
  | { readonly ok: false; readonly problem: string };

/**
 * Error that a tool throws if the call had no effect, such as a command that could not be started. Users see that the
 * call did not run, and the model reads "Not executed: " with the message.
 * @example throw new NotExecutedError("there is no shell on this system. Use the other tools.");
 */
export class NotExecutedError extends Error {
  override readonly name = "NotExecutedError";
}

export function failurePrefix(error: unknown): "Not executed" | "The tool failed" {
  return error instanceof NotExecutedError ? "Not executed" : "The tool failed";
}
