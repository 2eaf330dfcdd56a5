import type { TurnProblem } from "../run/mode.ts";
import { Interruption } from "../session/error.ts";
import type { Turn } from "../turn/turn.ts";

/** Error of `agent.send` and `chat.turn` if a turn ends without a response. `turn` has the partial result. */
export class TurnError extends Error {
  override readonly name = "TurnError";
  /** The code of the `ModelError`, or `limit`, `output` or `defect`. */
  readonly code: TurnProblem["code"];
  /** The partial turn with its text, usage and cost. */
  readonly turn: Turn;

  constructor(turn: Turn, problem: TurnProblem) {
    super(problem.message, { cause: problem.cause });
    this.code = problem.code;
    this.turn = turn;
  }
}

/** Returns the turn of a call. Throws `TurnError` if the turn failed, and `Interruption` if it never began. */
export function successfulTurn(turn: Turn | undefined): Turn {
  if (!turn) throw new Interruption("interrupted before the turn began; nothing was written");
  if (turn.error) throw new TurnError(turn, turn.error);
  return turn;
}
