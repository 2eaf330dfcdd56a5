import { type ExitCode, exitCodes } from "../program/exit.ts";
import { reportedProblem } from "../program/problem.ts";
import { plainLine } from "../show/plain-text.ts";
import { OutputStream } from "./output-stream.ts";

/**
 * Runs a command that prints its result. `warn` prints one sentence on stderr, and so do errors. `tell` prints its text
 * on stderr unchanged. Resolves with the command's exit code when all output has left the process.
 */
export async function listing(
  run: (
    write: (text: string) => void,
    warn: (sentence: string) => void,
    tell: (text: string) => void,
  ) => Promise<ExitCode | undefined | void>,
): Promise<ExitCode> {
  const stdout = new OutputStream(process.stdout);
  const stderr = new OutputStream(process.stderr);
  const warn = (sentence: string) => stderr.write(`banyan: ${plainLine(sentence)}\n`);
  let exit: ExitCode = exitCodes.done;
  try {
    exit =
      (await run(
        (text) => stdout.write(text),
        warn,
        (text) => stderr.write(text),
      )) ?? exitCodes.done;
  } catch (error) {
    const problem = reportedProblem(error);
    warn(problem.message);
    exit = problem.exit;
  }
  await Promise.all([stdout.flush(), stderr.flush()]);
  return stdout.gone ? exitCodes.brokenPipe : exit;
}
