import type { RunEnd } from "../conversation/event.ts";
import type { ModelError } from "../ports/model.ts";

/** Why a turn could not go on. */
export interface TurnProblem {
  /** A `ModelErrorCode`, `limit`, or `defect`. */
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
