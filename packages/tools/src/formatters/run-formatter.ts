import type { ProgramLaunch } from "../sandbox/find-program.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { PipedProgram } from "../workspace/commands/piped-program.ts";
import type { RunningCommands } from "../workspace/commands/process-family.ts";

/** Milliseconds for one text. */
const LONGEST = 2_000;

/** The program of a formatter, its folder and its sandbox. */
export interface FormatterLaunch extends ProgramLaunch {
  readonly directory: string;
  readonly sandbox: Pick<Sandbox, "wrap">;
}

/**
 * Lets a program format a text, for at most two seconds. Resolves with the formatted text; undefined if the program fails,
 * is too slow, or writes far more than it read. Never rejects.
 */
export async function runFormatter(
  { sandbox, ...launch }: FormatterLaunch,
  running: RunningCommands,
  text: string,
): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  const most = 2 * Buffer.byteLength(text) + 65_536;
  let size = 0;
  const ended = Promise.withResolvers<boolean>();
  const program = new PipedProgram({ ...launch, wrap: (some) => sandbox.wrap(some) }, running, {
    output(bytes) {
      size += bytes.length;
      if (size > most) ended.resolve(false);
      else pieces.push(bytes);
    },
    errorOutput() {},
    failed: () => ended.resolve(false),
    exited(how) {
      if (how !== "it ended with exit code 0") ended.resolve(false);
    },
    closed: () => ended.resolve(true),
  });
  const timer = setTimeout(() => ended.resolve(false), LONGEST);
  try {
    await program.start();
    program.input?.end(text);
    if (!(await ended.promise)) return undefined;
    return Buffer.concat(pieces).toString("utf8");
  } catch {
    // The program or the sandbox cannot start, so the text stays as it is.
    return undefined;
  } finally {
    clearTimeout(timer);
    // Ends a program that is too slow. The text does not wait for that.
    program.close().catch(() => {});
  }
}
