import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { directories } from "@banyan/host/directories";
import type { ColorChoice } from "../../arguments.ts";
import { type ExitCode, exitCodes, signalExits } from "../../exit.ts";
import { wrap } from "../../show/fit-text.ts";
import { oneLine } from "../../show/plain-text.ts";
import { openTerminal } from "../../terminal/open-terminal.ts";
import type { TalkAction, Terminal } from "../../terminal/terminal.ts";
import { Unsent } from "../user/unsent.ts";

/** Whom a person at a terminal talks with. */
export interface Partner {
  /** A message that was typed unasked. Returns whether it was taken. */
  typed(message: string, later: boolean): boolean;
  /** Ctrl-C while nothing is typed. */
  interrupt(): void;
  /** A key that is about the conversation. */
  act(action: TalkAction): void;
  /** The person goes. The terminal is closed. */
  leave(): void;
}

/** What goes on at a terminal. */
export interface Sitting {
  readonly terminal: Terminal;
  /** Keeps what is typed here until it is said. */
  readonly unsent: Unsent;
  /** Ends the beginning. */
  readonly signal: AbortSignal;
  /** From now on Ctrl-C ends the beginning. */
  starting(): void;
  /** There is somebody to talk with. */
  met(partner: Partner): void;
}

/**
 * Opens the terminal, which takes keys at once (T40), and lets something go on there. Resolves with the exit code, that of
 * the person's leaving or else the one that it answers, once the terminal is as it was before; what is thrown is one sentence on stderr.
 */
export async function atTerminal(
  { color, plain, cwd = "." }: { readonly color: ColorChoice; readonly plain: boolean; readonly cwd?: string },
  sit: (sitting: Sitting) => Promise<ExitCode | void>,
): Promise<ExitCode> {
  // The space for young objects would grow to eight times its size. At a person's pace that gains no time, and costs 30 MB.
  setFlagsFromString("--semi-space-growth-factor=1");
  let exit: ExitCode = exitCodes.done;
  let partner: Partner | undefined;
  let isStarting = false;
  const begun = new AbortController();
  const unsent = new Unsent(join(directories(process.env, homedir()).data, "drafts"), resolve(cwd), (error) => {
    terminal.write(`${wrap(`Your input history is not kept: ${whyNotKept(error)}`, terminal.columns)}\n`);
  });
  const terminal = await openTerminal({
    input: process.stdin,
    output: process.stdout,
    env: process.env,
    color,
    plain,
    onTyped: (message, later) => partner?.typed(message, later) ?? false,
    onInterrupt: () => {
      if (partner) partner.interrupt();
      else if (isStarting) leave(exitCodes.interrupted);
    },
    onAction: (action) => partner?.act(action),
    onDraft: (text) => unsent.draft(text),
  });
  const leave = (code: ExitCode) => {
    exit = code;
    begun.abort();
    partner?.leave();
    terminal.close();
  };
  // A terminal that went away cannot be written to any more.
  process.stdout.on("error", () => leave(exitCodes.hangup));
  // A defect that ends the process must not leave its modes behind, and is told below what is there.
  process.once("uncaughtExceptionMonitor", () => terminal.close());
  process.once("exit", () => {
    terminal.close();
    unsent.close();
  });
  process.on("SIGINT", () => terminal.interrupt());
  process.once("SIGTERM", () => leave(signalExits.SIGTERM));
  process.once("SIGHUP", () => leave(signalExits.SIGHUP));
  try {
    const ended = await sit({
      terminal,
      unsent,
      signal: begun.signal,
      starting: () => {
        isStarting = true;
      },
      met: (met) => {
        partner = met;
      },
    });
    if (exit === exitCodes.done && ended !== undefined) exit = ended;
  } catch (error) {
    await terminal.live?.settled();
    terminal.close();
    if (begun.signal.aborted) return exit;
    const { problemOf } = await import("../../problem.ts");
    const { message, exit: code } = problemOf(error);
    process.stderr.write(`banyan: ${oneLine(message)}\n`);
    return code;
  }
  await terminal.live?.settled();
  terminal.close();
  return exit;
}

/** Why something could not be written to the files of what is not sent yet. */
function whyNotKept(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT") return "there is no room left on the disk; free some space.";
  return error instanceof Error ? oneLine(error.message) : String(error);
}
