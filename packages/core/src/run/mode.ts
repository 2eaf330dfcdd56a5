import type { RunEnd } from "../conversation/event.ts";
import type { AssistantMessage, Message } from "../conversation/message.ts";
import type { Json } from "../conversation/part.ts";
import type { CheckedArguments } from "../ports/define-tool.ts";
import type { ModelError } from "../ports/model.ts";
import type { TaskAgent, Tool } from "../ports/tool.ts";

export const FINISH_TASK = "finish_task";

/** The effect of an answer without calls: it ends a turn of a chat; the turn of a task continues. */
export interface Mode {
  readonly name: "chat" | "task";
  /** Instructions appended to those of the agent; may be empty. */
  readonly instructions: string;
  /** Control tools of the mode. */
  readonly tools: readonly Tool[];
  /** Called for a response without calls. A text goes to the model and continues the turn; nothing ends the turn. */
  onResponse(
    response: AssistantMessage,
    turn: readonly Message[],
  ): string | TurnProblem | undefined | Promise<string | TurnProblem | undefined>;
  /** Called when all calls of a response have results. Returns the problem that ends the turn, or nothing. */
  onCalls(turn: readonly Message[]): TurnProblem | undefined;
  /** The schema of the result. Absent: a result is the JSON of the model. */
  readonly output?: ModeOutput;
}

/** The result of a turn in a mode with a schema. */
export interface ModeOutput {
  /** JSON Schema of the text of the last response. Absent: a call gives the result. */
  readonly schema?: Json;
  /** Returns the value that the last response of a turn gives, if any. */
  valueIn(response: AssistantMessage): Json | undefined;
  /** Returns the result of the schema, with its defaults and transforms, or the reason why the value does not fit. */
  check(value: Json): CheckedArguments | Promise<CheckedArguments>;
}

/** Returns the result in a response that finished its task, or nothing. */
export function taskResultIn({ calls }: AssistantMessage): Json | undefined {
  const call = calls.findLast(({ tool, status }) => tool === FINISH_TASK && status === "completed");
  const input = call?.executedInput ?? call?.input;
  return input && typeof input === "object" && "result" in input ? input.result : undefined;
}

/** The reason why a turn failed. */
export interface TurnProblem {
  /** A `ModelErrorCode`, `limit`, `output`, `goal`, `refused`, or `defect`. */
  readonly code: string;
  readonly message: string;
  readonly cause?: unknown;
  /** The last value of the model, if it does not fit the schema of the result. */
  readonly value?: Json | undefined;
}

export interface LoopEnd {
  readonly reason: RunEnd;
  readonly limit?: string;
  readonly error?: TurnProblem;
  /** The agent that continues the turn. */
  readonly handsTo?: TaskAgent | undefined;
}

export function failedEnd(error: ModelError): LoopEnd {
  return { reason: "failed", error: { code: error.code, message: error.message, cause: error } };
}
