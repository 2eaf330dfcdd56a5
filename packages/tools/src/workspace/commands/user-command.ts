import type { Redaction } from "../files/output.ts";
import { type CommandEnd, runShellCommand } from "./command.ts";
import { RunningCommands } from "./process-family.ts";
import { commandReport, ShownOutput, WITHOUT_TERMINAL } from "./shell.ts";

/** A command that a user runs, and its folder. See {@link runForUser}. */
export interface UserCommand {
  readonly command: string;
  readonly directory: string;
  readonly signal: AbortSignal;
  readonly hurry?: AbortSignal;
  /** Gets the output as plain text: standard output and standard error in one stream. */
  readonly onOutput: (text: string) => void;
  /** Removes secrets from the model's copy. The user sees the whole output. */
  readonly redaction: Redaction;
}

const A_DAY = 24 * 3_600_000;

/**
 * Runs a command for a user, with the user's variables and without a sandbox, but without input and terminal. Resolves
 * with the end of the command and the text for the model. Rejects if the shell cannot start.
 * @example
 * const { report } = await runForUser({
 *   command: "git status",
 *   directory: workspace.root,
 *   signal,
 *   onOutput: (text) => process.stdout.write(text),
 *   redaction: redacting(),
 * });
 */
export async function runForUser({
  command,
  directory,
  signal,
  hurry,
  onOutput,
  redaction,
}: UserCommand): Promise<{ readonly end: CommandEnd; readonly report: string }> {
  const output = new ShownOutput(redaction);
  const set = Object.entries({ ...process.env, ...WITHOUT_TERMINAL }).filter(([, value]) => value !== undefined);
  const end = await runShellCommand(command, new RunningCommands(), {
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
  return { end, report: commandReport(output.end(), end, A_DAY) };
}
