import { type ExitCode, exitCodes } from "../exit.ts";
import { problemOf } from "../problem.ts";
import { oneLine } from "../show/plain-text.ts";
import { OutputStream } from "./output-stream.ts";

/**
 * Runs something that writes to standard output and is then done. What it throws is one sentence on stderr. Resolves with
 * the exit code once all output has left the process.
 */
export async function listing(run: (write: (text: string) => void) => Promise<void>): Promise<ExitCode> {
  const stdout = new OutputStream(process.stdout);
  const stderr = new OutputStream(process.stderr);
  let exit: ExitCode = exitCodes.done;
  try {
    await run((text) => stdout.write(text));
  } catch (error) {
    const problem = problemOf(error);
    stderr.write(`banyan: ${oneLine(problem.message)}\n`);
    exit = problem.exit;
  }
  await Promise.all([stdout.flush(), stderr.flush()]);
  return stdout.gone ? exitCodes.brokenPipe : exit;
}
