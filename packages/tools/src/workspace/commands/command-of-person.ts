import type { Redaction } from "../files/output.ts";
import { type CommandEnd, runCommand } from "./command.ts";
import { RunningCommands } from "./process-family.ts";
import { ShownOutput, told, WITHOUT_TERMINAL } from "./shell.ts";

/** A command that a person runs, and where. */
export interface PersonsCommand {
  readonly command: string;
  readonly directory: string;
  /** Ends it, and all that it started. */
  readonly signal: AbortSignal;
  /** Ends it without asking it to end. */
  readonly hurry?: AbortSignal;
  /** Gets the output as plain text, standard output and standard error as one stream. */
  readonly onOutput: (text: string) => void;
  /** Takes secrets out of what a model would be told; the person sees the output as it is. */
  readonly redaction: Redaction;
}

/** Milliseconds. */
const A_DAY = 24 * 3_600_000;

/**
 * Runs a command for a person: with their own variables, and outside of any sandbox, as in their shell, but without input
 * and terminal. Resolves with how it ended and what a model would be told of it. Rejects when the shell cannot be started.
 */
export async function runByPerson({
  command,
  directory,
  signal,
  hurry,
  onOutput,
  redaction,
}: PersonsCommand): Promise<{ readonly end: CommandEnd; readonly told: string }> {
  const output = new ShownOutput(redaction);
  const set = Object.entries({ ...process.env, ...WITHOUT_TERMINAL }).filter(([, value]) => value !== undefined);
  const end = await runCommand(command, new RunningCommands(), {
    directory,
    environment: Object.fromEntries(set) as Record<string, string>,
    timeout: A_DAY,
    signal,
    ...(hurry && { hurry }),
    onOutput(text, written) {
      output.push(written);
      onOutput(text);
    },
  });
  return { end, told: told(output.end(), end, A_DAY) };
}
