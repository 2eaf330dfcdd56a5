import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Json } from "../../conversation/part.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";
import type { InputSchema, JsonSchema } from "../../ports/tool-values.ts";
import { FINISH_TASK } from "../../run/mode.ts";
import { checkStandard, jsonSchemaOf } from "../../toolbox/toolbox.ts";

/**
 * Makes the tool `finish_task {result, summary?}`, which ends a task. With `output`, the result must match this schema,
 * and the log keeps the result as the model wrote it. Without `output`, the result is a text.
 */
export function finishTask(output?: InputSchema<unknown>): Tool {
  const check = output && "~standard" in output ? checkStandard(output as StandardSchemaV1) : undefined;
  const result =
    output === undefined
      ? { type: "string", description: "The complete result of the task." }
      : inside("properties/result", jsonSchemaOf("output", output));
  return defineTool({
    name: FINISH_TASK,
    description: "Ends the task with its result. Call this tool when the task is done, or cannot be done.",
    input: {
      type: "object",
      properties: {
        result,
        summary: {
          type: "string",
          description: "Your work and findings in a few sentences, for the agent of the next task here.",
        },
      },
      required: ["result"],
      additionalProperties: false,
    } as JsonSchema,
    effects: "idempotent",
    control: true,
    about(input) {
      const { summary } = input as { readonly summary?: string };
      return { result: "result", ...(summary !== undefined && { title: summary }) };
    },
    async execute(input: unknown, context) {
      const { result, summary } = input as { readonly result: Json; readonly summary?: string };
      const checked = await check?.(result);
      if (checked?.ok === false) throw new Error(`the result does not fit: ${checked.problem}.`);
      context.finish(result, summary);
      return "The task ends with this result.";
    },
  });
}

/** Returns a schema for use inside another schema: references to its own parts are adjusted to `place`. */
function inside(place: string, schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (keyword, value) =>
    keyword === "$ref" && typeof value === "string" ? value.replace(/^#(?=\/|$)/, `#/${place}`) : value,
  );
}
