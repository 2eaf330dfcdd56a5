import { type AssistantMessage, type Message, textOf } from "../../conversation/message.ts";
import type { Json } from "../../conversation/part.ts";
import type { InputSchema } from "../../ports/tool-values.ts";
import type { TurnProblem } from "../../run/mode.ts";
import { FINISH_TASK, type Mode, taskResultIn } from "../../run/mode.ts";
import { schemaWithCheck } from "../../toolbox/toolbox.ts";
import { askClient } from "../control/ask-client.ts";
import { finishTask } from "../control/finish-task.ts";

const INSTRUCTIONS = `You work on a task alone: no user reads your messages or answers them. Continue until the task is done, then call ${FINISH_TASK} with the result. Only that call ends the task. If the task cannot be done, call it too, and explain why. If you cannot continue without a decision of the user, call ask_client.`;

const CORRECTION = `You called no tool. No user reads your answer during the task. Continue with the task; if it is done, call ${FINISH_TASK} with the result.`;

/** The turn fails after this number of results that do not match the schema. */
const RESULTS = 2;

/** Mode in which only `finish_task` ends a turn. With `output`, the result must match the schema `output`. */
export function taskMode(output?: InputSchema<unknown>, results = RESULTS): Mode {
  const tools = [finishTask(output), askClient()];
  const mode = { name: "task", instructions: INSTRUCTIONS, tools, onResponse: () => CORRECTION } as const;
  if (output === undefined) return { ...mode, onCalls: () => undefined };
  const { check } = schemaWithCheck("output", output);
  return {
    ...mode,
    onCalls: (turn) => refusedResultProblem(turn, results),
    output: { valueIn: taskResultIn, check },
  };
}

function refusedResultProblem(turn: readonly Message[], results: number): TurnProblem | undefined {
  const refused = turn.flatMap((message) =>
    message.role === "assistant"
      ? message.calls.filter(({ tool, status }) => tool === FINISH_TASK && status === "failed")
      : [],
  );
  const last = refused.at(-1);
  if (!last || refused.length < results) return undefined;
  const { result } = (last.executedInput ?? last.input ?? {}) as { readonly result?: Json };
  const message = `The result does not match the requested schema. ${last.output ?? ""}`.trim();
  return { code: "output", message, value: result };
}

/** Mode in which the last response of a turn is a JSON value that matches `output`. */
export function resultMode(output: InputSchema<unknown>, results = RESULTS): Mode {
  const { json, check } = schemaWithCheck("output", output);
  return {
    name: "chat",
    instructions: `The last response of each turn must be one JSON value, without any other text. The value must match this JSON Schema:\n${JSON.stringify(json)}`,
    tools: [],
    async onResponse(response, turn) {
      const value = jsonOf(response);
      const checked = value === undefined ? NO_JSON : await check(value);
      if (checked.ok) return undefined;
      const message = `The response does not match the requested schema: ${checked.problem}.`;
      const given = turn.filter((each) => each.role === "assistant" && each.calls.length === 0).length;
      if (given >= results) return { code: "output", message, value: value ?? textOf(response) };
      return `${message} Respond again, with the JSON value alone.`;
    },
    onCalls: () => undefined,
    output: { schema: json as Json, valueIn: jsonOf, check },
  };
}

const NO_JSON = { ok: false, problem: "it is not JSON" } as const;

/** Returns the JSON value of a response, also inside a Markdown code block. */
function jsonOf(response: AssistantMessage): Json | undefined {
  const text = textOf(response).trim();
  try {
    return JSON.parse(/^```(?:json)?\n([\s\S]*)\n```$/.exec(text)?.[1] ?? text);
  } catch {
    // The caller reports to the model that this is not JSON.
    return undefined;
  }
}

/** Mode in which a turn ends with the first response that asks for no call. */
export const chatMode: Mode = Object.freeze({
  name: "chat",
  instructions: "",
  tools: [],
  onResponse: () => undefined,
  onCalls: () => undefined,
});
