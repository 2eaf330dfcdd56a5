import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { endFamily, familyOf, isLiving, type RunningCommands } from "@banyan/tools/processes";
import type { Hook } from "./entries.ts";

/** Bytes of output that a hook may have; one that says more is stopped. */
const MOST_OUTPUT = 1024 * 1024;

/** What came of a hook: what it said, or in a sentence why that counts for nothing. */
export type HookEnd =
  | { readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly problem: string };

/** How a command failed, as the end of a sentence that names the command. */
export function failureOf(
  command: string,
  { code, stderr }: { readonly code: number; readonly stderr: string },
): string {
  const [first = ""] = stderr.trim().split("\n", 1);
  // Before the reason the shell writes its own name, a line and the program.
  const why = first.replace(/^\S*sh: (?:line )?\d+: /, "");
  const [program = ""] = command.trim().split(/\s/, 1);
  // A script writes its name and a line, too.
  const reason = why.startsWith(`${program}: `) ? why.slice(program.length + 2).replace(/^(?:line )?\d+: /, "") : why;
  const how = code === 126 || code === 127 ? "could not be run" : `failed with exit code ${code}`;
  return reason === "" ? how : `${how}: ${reason}`;
}

/** Where a hook runs. */
export interface HookPlace {
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Milliseconds that the pipes of a hook are waited for which has exited: a process that it left may keep them open. */
const PIPES = 1_000;

/**
 * Runs a hook with JSON as its input, as the user and with their variables. It ends when its process exits, after its time, after
 * 1 MiB of output, and with the signal. A hook that is stopped ends with all that it started. What a hook leaves in the background
 * when it exits goes on and is added to `left`; without `left` it ends too. Never rejects.
 */
export async function runHook(
  { command, timeout }: Pick<Hook, "command" | "timeout">,
  input: object,
  { directory, env }: HookPlace,
  signal: AbortSignal,
  left?: RunningCommands,
): Promise<HookEnd> {
  const mark = randomUUID();
  const child = spawn("/bin/sh", ["-c", command], {
    cwd: directory,
    env: { ...env, CLAUDE_PROJECT_DIR: directory, BANYAN_PROJECT_DIR: directory, BANYAN_COMMANDS: mark },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const family = child.pid === undefined ? undefined : familyOf(child.pid, mark);
  if (family) left?.add(family);
  const ended = Promise.withResolvers<HookEnd>();
  const said = { stdout: "", stderr: "" };
  let isOver = false;
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      // The pipe of a process that goes on is read all the same: a full or a closed pipe would stop the process.
      if (isOver) return;
      said[name] += text;
      if (said[name].length > MOST_OUTPUT) ended.resolve({ problem: "wrote more than 1 MiB, and was stopped" });
    });
    // A pipe that breaks has nothing more to say.
    child[name].on("error", () => {});
  }
  // One that does not read what it is told has its reasons.
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(input));
  child.once("error", ({ message }) => ended.resolve({ problem: `could not be started: ${message}` }));
  const timers = [
    setTimeout(
      () => ended.resolve({ problem: `did not end within ${timeout / 1_000} s, and was stopped` }),
      Math.max(timeout, 1),
    ),
  ];
  let hasExited = false;
  const atExit = (code: number | null, by: NodeJS.Signals | null) => () => {
    hasExited = true;
    ended.resolve(code === null ? { problem: `was ended by ${by}` } : { code, ...said });
  };
  child.once("exit", (code, by) => {
    for (const timer of timers) clearTimeout(timer);
    timers.push(setTimeout(atExit(code, by), PIPES));
  });
  child.once("close", (code, by) => atExit(code, by)());
  const onAbort = () => ended.resolve({ problem: "was stopped with what it was for" });
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await ended.promise;
  } finally {
    isOver = true;
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    if (family && left && hasExited && isLiving(family)) {
      child.unref();
      for (const pipe of [child.stdout, child.stderr]) (pipe as Socket).unref();
    } else {
      if (family) {
        await endFamily(family);
        left?.remove(family);
      }
      child.stdout.destroy();
      child.stderr.destroy();
    }
  }
}
