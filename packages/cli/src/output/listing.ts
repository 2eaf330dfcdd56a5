import { type ExitCode, exitCodes } from "../exit.ts";
import { problemOf } from "../problem.ts";
import { oneLine } from "../show/plain-text.ts";
import { OutputStream } from "./output-stream.ts";

/**
 * Runs something that writes to standard output and is then done, with the exit code that it answers. What it warns of, and what it
 * throws, is one sentence on stderr; `tell` writes there as it is. Resolves with the exit code once all output has left the process.
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
  const warn = (sentence: string) => stderr.write(`banyan: ${oneLine(sentence)}\n`);
  let exit: ExitCode = exitCodes.done;
  try {
    exit =
      (await run(
        (text) => stdout.write(text),
        warn,
        (text) => stderr.write(text),
      )) ?? exitCodes.done;
  } catch (error) {
    const problem = problemOf(error);
    warn(problem.message);
    exit = problem.exit;
  }
  await Promise.all([stdout.flush(), stderr.flush()]);
  return stdout.gone ? exitCodes.brokenPipe : exit;
}
