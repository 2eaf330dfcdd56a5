import type { Json } from "../conversation/part.ts";
import type { TurnProblem } from "../run/mode.ts";
import { Interruption } from "../session/error.ts";
import type { Turn } from "../turn/turn.ts";

/**
 * Error of `agent.send` and `chat.turn` if a turn ends without a response. `turn` has the partial result.
 * @example
 * try {
 *   await agent.send("Hello");
 * } catch (error) {
 *   if (error instanceof TurnError) console.log(error.code, error.turn.text);
 * }
 */
export class TurnError extends Error {
  override readonly name = "TurnError";
  /** The code of the `ModelError`, or `limit`, `output`, `goal`, `refused`, `interrupted`, `waiting` or `defect`. */
  readonly code: TurnProblem["code"];
  /** The partial turn with its text, usage and cost. */
  readonly turn: Turn;
  /** The value that the model returned last, if it does not match the agent's schema `output`. */
  readonly value: Json | undefined;

  constructor(turn: Turn, problem: TurnProblem) {
    super(problem.message, { cause: problem.cause });
    this.code = problem.code;
    this.turn = turn;
    this.value = problem.value;
  }
}

/**
 * Returns `turn`. Throws `TurnError` if the turn failed, and with `needsResult` also if it waits. Throws `Interruption`
 * if it never began.
 */
export function successfulTurn<Result>(turn: Turn | undefined, needsResult = false): Turn<Result> {
  if (!turn) throw new Interruption("interrupted before the turn began; nothing was written");
  if (turn.error) throw new TurnError(turn, turn.error);
  if (needsResult && turn.reason === "waiting")
    throw new TurnError(turn, {
      code: "waiting",
      message: "A user must answer. agent.answer(...) continues the turn.",
    });
  // The agent's schema has made the result, and the agent has the type of its schema.
  return turn as Turn<unknown> as Turn<Result>;
}
