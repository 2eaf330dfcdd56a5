import type { z } from "zod";

/**
 * What a client must be allowed to do for a command: `watch` for what only looks, `act` for what changes a conversation
 * or the settings. What a client may do stands in the server's record of its token (S4).
 */
export type Right = "watch" | "act";

/** A command: what it needs, what it says beside `type` and `id`, and what its answer holds. */
export interface CommandDefinition<Input extends z.ZodRawShape = z.ZodRawShape, Result extends z.ZodType = z.ZodType> {
  readonly does: string;
  readonly needs: Right;
  readonly input: Input;
  readonly result: Result;
}

/** Defines a command; `does` is one sentence for its documentation. */
export function command<const Input extends z.ZodRawShape, const Result extends z.ZodType>(
  needs: Right,
  does: string,
  input: Input,
  result: Result,
): CommandDefinition<Input, Result> {
  return { does, needs, input, result };
}
