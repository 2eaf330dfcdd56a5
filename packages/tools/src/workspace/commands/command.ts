import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Program } from "../../sandbox/find-program.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { WorkspaceError } from "../files/error.ts";
import { ControlStripper } from "../files/plain-text.ts";
import { endFamily, familyOf, type RunningCommands, waitsForInput } from "./process-family.ts";

/** How a command ended. `code` is that of the shell: 128 and the signal's number when a signal ended it. */
export type CommandEnd =
  | { readonly type: "exited"; readonly code: number }
  | { readonly type: "timed-out" }
  | { readonly type: "cancelled" };

export interface CommandOptions {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Milliseconds; no limit when absent. */
  readonly timeout?: number | undefined;
  readonly signal: AbortSignal;
  /** Ends it without asking it to end. */
  readonly hurry?: AbortSignal;
  /** What the command runs in, and all that it starts. */
  readonly sandbox?: Sandbox;
  /**
   * Gets its standard input, as soon as it runs; without this it has none. A command that can be written to is one that stays:
   * it does not keep the program alive, and what it prints is taken no faster than 10 MiB a second, so that it has to wait.
   * `isWaiting` tells whether it waits for input at the moment.
   */
  readonly onInput?: (input: Writable, isWaiting: () => boolean) => void;
  /**
   * Gets the output, standard output and standard error as one stream: as plain text, in which each step of a progress bar is a
   * line, and as it was written, for a `TerminalScreen`.
   */
  readonly onOutput: (text: string, written: string) => void;
}

/** In the environment of all that a command starts, to find them by. */
const MARK = "BANYAN_COMMANDS";

/** How long an output stays open for the last bytes, in milliseconds, after everybody who should write to it has ended. */
const DRAIN = 250;

/** Bytes that are taken in so many milliseconds of what a command prints that stays. */
const PACE = { bytes: 1024 * 1024, time: 100 };

/** The shell that commands run in. */
export function commandShell(): string {
  return existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
}

/**
 * Runs a command in a shell, and ends all that it started before it answers:
 *
 *   shell exits ──▶ the output may close, 250 ms ──▶ who is left gets SIGTERM, after 2 s SIGKILL ──▶ answer
 *   time-out, abort ────────────────────────────────▲            ▲
 *   hurry ───────────────────────────────────────────────────────╯
 *
 * So a process in the background ends with its command, even one in a session of its own: nobody would own it
 * afterwards, and it could hold the output open for ever. Throws when the shell cannot be started, and when the sandbox
 * does not take the command.
 */
export async function runCommand(
  command: string,
  running: RunningCommands,
  options: CommandOptions,
): Promise<CommandEnd> {
  if (process.platform === "win32")
    throw new WorkspaceError("system", "Commands need a POSIX shell, which this system has not. Use the other tools.");
  options.signal.throwIfAborted();
  const mark = randomUUID();
  const around = process.env[MARK];
  // A command inside another bears both marks, so that either can find it.
  const environment = { ...options.environment, [MARK]: around === undefined ? mark : `${around},${mark}` };
  // One pipe for both outputs, so that what is written first is read first.
  const inShell: Program = {
    file: "/bin/sh",
    args: ["-c", 'exec "$0" -c -- "$1" 2>&1', commandShell(), command],
    environment,
  };
  using sandboxed = await options.sandbox?.wrap(inShell);
  options.signal.throwIfAborted();
  const { file, args, environment: env } = sandboxed ?? inShell;
  const child = spawn(file, args, {
    cwd: options.directory,
    env,
    // Only what fails to make a sandbox writes to the other pipe.
    stdio: [options.onInput ? "pipe" : "ignore", "pipe", "pipe"],
    detached: true,
  });
  const { stdin } = child;
  const [stdout, stderr] = [child.stdout as Readable, child.stderr as Readable];
  // One that does not read what it is sent, or has ended, is noticed by whoever writes next.
  stdin?.on("error", () => stdin.destroy());
  const exited = new Promise<CommandEnd>((resolve, reject) => {
    child.once("exit", (code, signal) =>
      resolve({ type: "exited", code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) }),
    );
    child.once("error", (cause) => {
      // The system says the same of a program and of the folder that it is to run in.
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
    // A pipe that breaks has nothing more to say; that the shell ended is told by its exit.
    pipe.on("error", () => pipe.destroy());
  }
  const stop = Promise.withResolvers<CommandEnd>();
  const onTimeout =
    options.timeout === undefined ? undefined : setTimeout(() => stop.resolve({ type: "timed-out" }), options.timeout);
  const onAbort = () => stop.resolve({ type: "cancelled" });
  options.signal.addEventListener("abort", onAbort, { once: true });
  if (stdin && options.onInput) {
    child.unref();
    // The pipes of a child process are sockets.
    for (const pipe of [stdin, stdout, stderr]) if (pipe instanceof Socket) pipe.unref();
    onTimeout?.unref();
    slow(stdout);
    options.onInput(stdin, () => !stdin.writableEnded && stdin.writableLength === 0 && waitsForInput(family));
  }
  try {
    const end = await Promise.race([exited, stop.promise]);
    if (end.type === "exited") await atMost(DRAIN, closed);
    await endFamily(family, options.hurry);
    await atMost(DRAIN, closed);
    const rest = decoder.end();
    options.onOutput(stripper.push(rest) + stripper.end(), rest);
    for (const notice of (await sandboxed?.ended()) ?? []) options.onOutput(`\n${notice}\n`, `\n${notice}\n`);
    return end;
  } finally {
    clearTimeout(onTimeout);
    options.signal.removeEventListener("abort", onAbort);
    stdin?.destroy();
    stdout.destroy();
    stderr.destroy();
    running.remove(family);
  }
}

/** Takes no more of an output than the pace allows: whoever writes more waits. */
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

/** Waits for something, but not longer than some milliseconds. */
async function atMost(time: number, promise: Promise<void>): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, time);
  await Promise.race([promise, over.promise]);
  clearTimeout(timer);
}
