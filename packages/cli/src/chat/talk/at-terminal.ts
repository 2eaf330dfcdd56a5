import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { directories } from "@banyan/host/directories";
import { type ExitCode, exitCodes, signalExits } from "../../program/exit.ts";
import type { ColorChoice } from "../../program/prompt-arguments.ts";
import { wrapSentence } from "../../show/fit-text.ts";
import { plainLine } from "../../show/plain-text.ts";
import type { TalkAction, Terminal } from "../../terminal/contract/terminal.ts";
import { openTerminal } from "../../terminal/open-terminal.ts";
import { UnsentTexts } from "../user/unsent-texts.ts";

/** Receives keys and messages of the user of a terminal. */
export interface TerminalPartner {
  /** Receives a message that the user typed while no line was requested. Returns whether the message was used. */
  typed(message: string, later: boolean): boolean;
  /** Called for Ctrl-C while the prompt is empty. */
  interrupt(): void;
  /** Called for a key with an action on the conversation. */
  act(action: TalkAction): void;
  /** The user leaves. The terminal is already closed. */
  leave(): void;
}

export interface TerminalStart {
  readonly terminal: Terminal;
  readonly unsent: UnsentTexts;
  readonly signal: AbortSignal;
  /** From now on Ctrl-C aborts the startup. */
  starting(): void;
  /** The startup is over. From now on keys go to this partner. */
  met(partner: TerminalPartner): void;
}

/**
 * Opens the terminal, which accepts keys at once (T40), and runs `sit`. Restores the terminal at the end. Resolves with
 * the exit code of `sit`. If the user left by a key or a signal, resolves with the exit code for that. Prints an error
 * of `sit` as one sentence on stderr.
 */
export async function runAtTerminal(
  { color, plain, cwd = "." }: { readonly color: ColorChoice; readonly plain: boolean; readonly cwd?: string },
  sit: (sitting: TerminalStart) => Promise<ExitCode | void>,
): Promise<ExitCode> {
  // The young generation would grow to eight times its size, which costs 30 MB and saves no time at a user's pace.
  setFlagsFromString("--semi-space-growth-factor=1");
  let exit: ExitCode = exitCodes.done;
  let partner: TerminalPartner | undefined;
  let isStarting = false;
  const begun = new AbortController();
  const unsent = new UnsentTexts(join(directories(process.env, homedir()).data, "drafts"), resolve(cwd), (error) => {
    terminal.write(
      `${wrapSentence(`Your input history cannot be saved: ${draftFailureSentence(error)}`, terminal.columns)}\n`,
    );
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
  process.stdout.on("error", () => leave(exitCodes.hangup));
  // A crash must not leave the terminal in raw mode, and its error is printed below the existing lines.
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
    const { reportedProblem } = await import("../../program/problem.ts");
    const { message, exit: code } = reportedProblem(error);
    process.stderr.write(`banyan: ${plainLine(message)}\n`);
    return code;
  }
  await terminal.live?.settled();
  terminal.close();
  return exit;
}

function draftFailureSentence(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT") return "there is no room left on the disk; free some space.";
  return error instanceof Error ? plainLine(error.message) : String(error);
}
