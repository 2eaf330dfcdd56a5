import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { endFamily, familyOf, isLiving, markedEnvironment, type RunningCommands } from "@banyan/tools/processes";
import type { Hook } from "./entries.ts";

const MOST_OUTPUT = 1024 * 1024;

/** The output of a hook, or a sentence with the reason why the hook has no effect. */
export type HookEnd =
  | { readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly problem: string };

/** Describes how a hook failed, as the end of a sentence that names its command. */
export function hookFailure(
  command: string,
  { code, stderr }: { readonly code: number; readonly stderr: string },
): string {
  const [first = ""] = stderr.trim().split("\n", 1);
  // The shell writes its own name, a line number and the program before the reason.
  const why = first.replace(/^\S*sh: (?:line )?\d+: /, "");
  const [program = ""] = command.trim().split(/\s/, 1);
  const reason = why.startsWith(`${program}: `) ? why.slice(program.length + 2).replace(/^(?:line )?\d+: /, "") : why;
  const how = code === 126 || code === 127 ? "could not be run" : `failed with exit code ${code}`;
  return reason === "" ? how : `${how}: ${reason}`;
}

/** The folder and environment of a hook. */
export interface HookContext {
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Words before the shell of the hook, which start the shell. */
  readonly before?: readonly string[];
}

/** Milliseconds to wait for the pipes of an exited hook, which its background processes may keep open. */
const PIPES = 1_000;

/**
 * Runs a hook with JSON as input and with the user's rights. A timeout, more than 1 MiB of output or the signal stops
 * the hook and its child processes. If a hook exits and leaves background processes, they are passed to `left`; without
 * `left`, they end, too. Never rejects.
 */
export async function runHook(
  { command, timeout }: Pick<Hook, "command" | "timeout">,
  input: object,
  { directory, env, before = [] }: HookContext,
  signal: AbortSignal,
  left?: RunningCommands,
): Promise<HookEnd> {
  const folders = { CLAUDE_PROJECT_DIR: directory, BANYAN_PROJECT_DIR: directory };
  const { mark, environment } = markedEnvironment({ ...env, ...folders });
  const [file = "", ...args] = [...before, "/bin/sh", "-c", command];
  const child = spawn(file, args, {
    cwd: directory,
    env: environment,
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
      // A full or closed pipe would stop the hook's background process.
      if (isOver) return;
      said[name] += text;
      if (said[name].length > MOST_OUTPUT) ended.resolve({ problem: "wrote more than 1 MiB, and was stopped" });
    });
    child[name].on("error", () => {});
  }
  // A hook need not read its input.
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
  const onAbort = () => ended.resolve({ problem: "was stopped together with its turn or call" });
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
