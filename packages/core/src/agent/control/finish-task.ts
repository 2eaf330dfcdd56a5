import type { Json } from "../../conversation/message.ts";
import { defineTool, type InputSchema, type JsonSchema, type Tool } from "../../ports/tool.ts";
import { FINISH_TASK } from "../../turn/mode.ts";
import { jsonSchemaOf } from "../../turn/toolbox.ts";

/**
 * `finish_task {result, summary?}`: ends a task. With `output`, the result must fit that schema; otherwise it is a
 * text.
 */
export function finishTask(output?: InputSchema<unknown>): Tool {
  const result =
    output === undefined
      ? { type: "string", description: "The result of the task, whole." }
      : jsonSchemaOf("output", output);
  return defineTool({
    name: FINISH_TASK,
    description:
      "Ends the task with its result. Call it when the task is done, or when it turns out that it cannot be done.",
    input: {
      type: "object",
      properties: {
        result,
        summary: {
          type: "string",
          description: "What was done and found, in a few sentences, for whoever works on the next task here.",
        },
      },
      required: ["result"],
      additionalProperties: false,
    } as JsonSchema,
    effects: "idempotent",
    execute(input: unknown, context) {
      const { result, summary } = input as { readonly result: Json; readonly summary?: string };
      context.finish(result, summary);
      return "The task ends with this result.";
    },
  });
}
