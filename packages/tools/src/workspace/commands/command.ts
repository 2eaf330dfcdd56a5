import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { ProgramLaunch } from "../../sandbox/find-program.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { WorkspaceError } from "../files/error.ts";
import { ControlStripper } from "../files/plain-text.ts";
import type { CommandConnections } from "./command-connections.ts";
import {
  endFamily,
  familyOf,
  markedEnvironment,
  type RunningCommands,
  waitAtMostFor,
  waitsForInput,
} from "./process-family.ts";

/**
 * The end of a command. `code` is the shell's exit code: 128 plus the signal's number after a signal. `lost`: the
 * sandbox ended before the command.
 */
export type CommandEnd =
  | { readonly type: "exited"; readonly code: number }
  | { readonly type: "timed-out" }
  | { readonly type: "lost" }
  | { readonly type: "cancelled" };

export interface CommandOptions {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Milliseconds; absent: no limit. */
  readonly timeout?: number | undefined;
  readonly signal: AbortSignal;
  /** Kills the command immediately. */
  readonly hurry?: AbortSignal;
  readonly sandbox?: Sandbox;
  /** The name of the network that this command shares with others in the sandbox. Absent: a network of its own. */
  readonly loopback?: string | undefined;
  /** Asks the user about the command's connections. Time that the command waits for the user does not count. */
  readonly connections?: CommandConnections | undefined;
  /** The command uses the network of this machine, although it runs in the sandbox. */
  readonly isDirect?: boolean | undefined;
  /** The paths that the command must not change, besides all paths outside the workspace. Absent: no such limit. */
  readonly readOnly?: readonly string[] | undefined;
  /**
   * Gets the standard input once the command runs; absent: no input. A command with input is a background command: it
   * does not keep the program alive, and its output is read at 10 MiB per second at most. `isWaiting` returns whether
   * the command waits for input.
   */
  readonly onInput?: (input: Writable, isWaiting: () => boolean) => void;
  /**
   * Gets the output, standard output and standard error in one stream. `text` is plain text with a line for each step
   * of a progress bar; `written` is the raw text for a `TerminalScreen`.
   */
  readonly onOutput: (text: string, written: string) => void;
}

/** Milliseconds: a command that waits for its user needs no finer timer. */
const SHORTEST_TIMER = 100;
/** Milliseconds for the last bytes of an output after all its writers have ended. */
const DRAIN = 250;

/** Maximum bytes of a background command's output to read in each period of `time` milliseconds. */
const PACE = { bytes: 1024 * 1024, time: 100 };

/**
 * Returns the path of the POSIX shell for commands. Throws on a system without one.
 * @example console.log(`Commands run in ${commandShell()}.`);
 */
export function commandShell(): string {
  return existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
}

/**
 * Runs a command in a shell, and ends all child processes before returning:
 *
 *   shell exits ──▶ output may close, 250 ms ──▶ remaining processes get SIGTERM, after 2 s SIGKILL ──▶ result
 *   time-out, abort ─────────────────────────────▲                                          ▲
 *   hurry ──────────────────────────────────────────────────────────────────────────────────╯
 *
 * So a child process in the background ends with its command, even in its own session. Without an owner, the process
 * could hold the output open for ever. Throws if the shell cannot start, or if the sandbox refuses the command.
 */
export async function runShellCommand(
  command: string,
  running: RunningCommands,
  options: CommandOptions,
): Promise<CommandEnd> {
  if (process.platform === "win32")
    throw new WorkspaceError("system", "Commands need a POSIX shell, which this system lacks. Use the other tools.");
  options.signal.throwIfAborted();
  const { mark, environment } = markedEnvironment(options.environment);
  const inShell: ProgramLaunch = {
    file: "/bin/sh",
    args: ["-c", 'exec "$0" -c -- "$1" 2>&1', commandShell(), command],
    environment,
  };
  const { connections, loopback, isDirect, readOnly } = options;
  if (readOnly && !options.sandbox) throw new WorkspaceError("system", "A command with limits needs a sandbox.");
  using sandboxed = await options.sandbox?.wrap(inShell, { asker: connections, loopback, isDirect, readOnly });
  options.signal.throwIfAborted();
  const { file, args, environment: env } = sandboxed ?? inShell;
  const child = spawn(file, args, {
    cwd: options.directory,
    env,
    // Only a failing start of the sandbox writes to the second pipe.
    stdio: [options.onInput ? "pipe" : "ignore", "pipe", "pipe"],
    detached: true,
  });
  const { stdin } = child;
  const [stdout, stderr] = [child.stdout as Readable, child.stderr as Readable];
  // An error of the input means that the command ended or does not read. The next write reports the error.
  stdin?.on("error", () => stdin.destroy());
  const exited = new Promise<CommandEnd>((resolve, reject) => {
    child.once("exit", (code, signal) =>
      resolve({ type: "exited", code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) }),
    );
    child.once("error", (cause) => {
      // The system reports the same error for a missing program and a missing folder.
      const why = existsSync(options.directory)
        ? cause.message
        : `the folder ${options.directory} is not there any more`;
      reject(new WorkspaceError("system", `The shell could not be started: ${why}.`, { cause }));
    });
  });
  if (child.pid === undefined) return exited;

  const family = familyOf(child.pid, mark);
  running.add(family);
  const closed = new Promise<void>((resolve) => stdout.once("close", resolve));
  const decoder = new StringDecoder("utf8");
  const stripper = new ControlStripper();
  for (const pipe of [stdout, stderr]) {
    pipe.on("data", (bytes: Buffer) => {
      const written = decoder.write(bytes);
      options.onOutput(stripper.push(written), written);
    });
    pipe.on("error", () => pipe.destroy());
  }
  const stop = Promise.withResolvers<CommandEnd>();
  let timer: NodeJS.Timeout | undefined;
  /** `granted`: milliseconds of waiting for the user that the timer already adds. */
  const endIn = (milliseconds: number, granted = 0) => {
    timer = setTimeout(() => {
      const { waited = 0 } = connections ?? {};
      if (waited > granted) endIn(Math.max(waited - granted, SHORTEST_TIMER), waited);
      else stop.resolve({ type: "timed-out" });
    }, milliseconds);
    if (options.onInput) timer.unref();
  };
  if (options.timeout !== undefined) endIn(options.timeout);
  const onAbort = () => stop.resolve({ type: "cancelled" });
  options.signal.addEventListener("abort", onAbort, { once: true });
  if (stdin && options.onInput) {
    child.unref();
    // The pipes of a child process are sockets, which can be unreferenced.
    for (const pipe of [stdin, stdout, stderr]) if (pipe instanceof Socket) pipe.unref();
    slow(stdout);
    options.onInput(stdin, () => !stdin.writableEnded && stdin.writableLength === 0 && waitsForInput(family));
  }
  try {
    const end = await Promise.race([exited, stop.promise]);
    if (end.type === "exited") await waitAtMostFor(DRAIN, closed);
    await endFamily(family, options.hurry);
    await waitAtMostFor(DRAIN, closed);
    const rest = decoder.end();
    options.onOutput(stripper.push(rest) + stripper.end(), rest);
    if (connections) connections.directAttempts = sandboxed?.directAttempts() ?? 0;
    const notices = sandboxed ? await sandboxed.ended() : [];
    for (const notice of notices ?? []) options.onOutput(`\n${notice}\n`, `\n${notice}\n`);
    return notices === undefined && end.type === "exited" ? { type: "lost" } : end;
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener("abort", onAbort);
    stdin?.destroy();
    stdout.destroy();
    stderr.destroy();
    running.remove(family);
  }
}

function slow(output: Readable): void {
  let taken = 0;
  let isCounting = false;
  output.on("data", (bytes: Buffer) => {
    taken += bytes.length;
    if (taken > PACE.bytes) output.pause();
    if (isCounting) return;
    isCounting = true;
    setTimeout(() => {
      isCounting = false;
      taken = 0;
      output.resume();
    }, PACE.time).unref();
  });
}
