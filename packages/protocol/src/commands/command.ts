import type { z } from "zod";

/**
 * Definition of a command: the schema of its result, and of its fields other than `type` and `id`.
 * @example const definition: CommandDefinition = commands["turn.say"];
 */
export interface CommandDefinition<Input extends z.ZodRawShape = z.ZodRawShape, Result extends z.ZodType = z.ZodType> {
  readonly does: string;
  readonly input: Input;
  readonly result: Result;
}

/** Defines a command of the protocol. `does` is the sentence that describes the command in the documentation. */
export function command<const Input extends z.ZodRawShape, const Result extends z.ZodType>(
  does: string,
  input: Input,
  result: Result,
): CommandDefinition<Input, Result> {
  return { does, input, result };
}
