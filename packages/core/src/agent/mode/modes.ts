import type { Message } from "../../conversation/message.ts";
import type { InputSchema } from "../../ports/tool-values.ts";
import type { TurnProblem } from "../../run/mode.ts";
import { FINISH_TASK, type Mode } from "../../run/mode.ts";
import { askClient } from "../control/ask-client.ts";
import { finishTask } from "../control/finish-task.ts";

const INSTRUCTIONS = `You work on a task alone: no user reads your messages or answers them. Continue until the task is done, then call ${FINISH_TASK} with the result. Only that call ends the task. If the task cannot be done, call it too, and explain why. If you cannot continue without a decision of the user, call ask_client.`;

const CORRECTION = `You called no tool. No user reads your answer during the task. Continue with the task; if it is done, call ${FINISH_TASK} with the result.`;

/** The turn fails after this number of results that do not match the schema. */
const MISFITS = 2;

/** Mode in which only `finish_task` ends a turn. With `output`, the result must match that schema. */
export function taskMode(output?: InputSchema<unknown>): Mode {
  return {
    name: "task",
    instructions: INSTRUCTIONS,
    tools: [finishTask(output), askClient()],
    onResponse: () => CORRECTION,
    onCalls: (turn) => (output === undefined ? undefined : refusedResultProblem(turn)),
  };
}

function refusedResultProblem(turn: readonly Message[]): TurnProblem | undefined {
  const refused = turn.flatMap((message) =>
    message.role === "assistant"
      ? message.calls.filter(({ tool, status }) => tool === FINISH_TASK && status === "failed")
      : [],
  );
  if (refused.length < MISFITS) return undefined;
  return {
    code: "output",
    message: `The result does not match the requested schema. ${refused.at(-1)?.output ?? ""}`.trim(),
  };
}

/** Mode in which a turn ends with the first response that asks for no call. */
export const chatMode: Mode = Object.freeze({
  name: "chat",
  instructions: "",
  tools: [],
  onResponse: () => undefined,
  onCalls: () => undefined,
});
