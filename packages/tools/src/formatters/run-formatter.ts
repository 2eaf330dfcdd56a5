import { errorMessage } from "@banyan/core/shown";
import type { ProgramLaunch } from "../sandbox/find-program.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { Journal } from "../workspace/commands/journal.ts";
import { PipedProgram } from "../workspace/commands/piped-program.ts";
import type { RunningCommands } from "../workspace/commands/process-family.ts";

/** Milliseconds for one text. */
const LONGEST = 2_000;

/** The program of a formatter, its folder and its sandbox. */
export interface FormatterLaunch extends ProgramLaunch {
  readonly directory: string;
  readonly sandbox: Pick<Sandbox, "wrap">;
}

/** A formatted text, or the reason why there is none (the end of a sentence). */
export type FormatResult =
  | { readonly text: string; readonly why?: undefined }
  | { readonly text?: undefined; readonly why: string };

/**
 * Lets a program format a text, for at most two seconds. If the program fails, is too slow, writes nothing, or writes
 * far more than it read, resolves with the reason. Never rejects.
 */
export async function runFormatter(
  { sandbox, ...launch }: FormatterLaunch,
  running: RunningCommands,
  text: string,
): Promise<FormatResult> {
  const pieces: Buffer[] = [];
  const errors = new Journal();
  const most = 2 * Buffer.byteLength(text) + 65_536;
  let size = 0;
  let failure: string | undefined;
  /** Resolves with the reason of a failure. */
  const ended = Promise.withResolvers<string | undefined>();
  const program = new PipedProgram({ ...launch, wrap: (some) => sandbox.wrap(some) }, running, {
    output(bytes) {
      size += bytes.length;
      if (size > most) ended.resolve("it wrote far more than it read");
      else pieces.push(bytes);
    },
    errorOutput: (bytes) => errors.push(bytes.toString("utf8")),
    failed: (error) => ended.resolve(error.message),
    exited(how, code) {
      if (code !== 0) failure = how;
    },
    // Later than `exited`, with the whole output.
    closed: () => ended.resolve(failure),
  });
  const timer = setTimeout(() => ended.resolve(`it took longer than ${LONGEST / 1_000} seconds`), LONGEST);
  try {
    await program.start();
    program.input?.end(text);
    const why = await ended.promise;
    if (why !== undefined) return { why: errors.last === undefined ? why : `${why}; its last output: ${errors.last}` };
    const formatted = Buffer.concat(pieces).toString("utf8");
    if (formatted === "" && text.trim() !== "") return { why: "it wrote nothing" };
    return { text: formatted };
  } catch (error) {
    // The program or the sandbox cannot start, so the text stays as it is.
    return { why: errorMessage(error) };
  } finally {
    clearTimeout(timer);
    // Ends a program that is too slow. The text does not wait for that.
    program.close().catch(() => {});
  }
}
