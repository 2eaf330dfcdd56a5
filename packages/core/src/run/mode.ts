import type { RunEnd } from "../conversation/event.ts";
import type { AssistantMessage, Json, Message } from "../conversation/message.ts";
import type { ModelError } from "../ports/model.ts";
import type { Tool } from "../ports/tool.ts";

/** The tool that ends a task. */
export const FINISH_TASK = "finish_task";

/** Who has control when the model asks for nothing: a policy, of which the loop knows only what stands here. */
export interface Mode {
  readonly name: "chat" | "task";
  /** Said to the model after the agent's own instructions; may be empty. */
  readonly instructions: string;
  /** The control tools that it brings. */
  readonly tools: readonly Tool[];
  /** The model asks for no call: nothing ends the turn, a text is told to the model and the turn goes on. */
  onResponse(response: AssistantMessage): string | undefined;
  /**
   * All calls of a response have their results: why the turn cannot go on, if it cannot. `turn` is its messages so far.
   */
  onCalls(turn: readonly Message[]): TurnProblem | undefined;
}

/** The result that a response ended its task with; nothing when it did not. */
export function finishedWith({ calls }: AssistantMessage): Json | undefined {
  const call = calls.findLast(({ tool, status }) => tool === FINISH_TASK && status === "completed");
  const input = call?.executedInput ?? call?.input;
  return input && typeof input === "object" && "result" in input ? input.result : undefined;
}

/** Why a turn could not go on. */
export interface TurnProblem {
  /** A `ModelErrorCode`, `limit`, `output`, or `defect`. */
  readonly code: string;
  readonly message: string;
  readonly cause?: unknown;
}

/** How a loop ended its turn. */
export type Ending = { readonly reason: RunEnd; readonly limit?: string; readonly error?: TurnProblem };

/** The end of a turn whose model could not respond. */
export function failed(error: ModelError): Ending {
  return { reason: "failed", error: { code: error.code, message: error.message, cause: error } };
}
