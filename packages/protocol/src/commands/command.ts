import type { z } from "zod";

/** A command: what it says beside `type` and `id`, and what its answer holds. */
export interface CommandDefinition<Input extends z.ZodRawShape = z.ZodRawShape, Result extends z.ZodType = z.ZodType> {
  readonly does: string;
  readonly input: Input;
  readonly result: Result;
}

/** Defines a command; `does` is one sentence for its documentation. */
export function command<const Input extends z.ZodRawShape, const Result extends z.ZodType>(
  does: string,
  input: Input,
  result: Result,
): CommandDefinition<Input, Result> {
  return { does, input, result };
}
