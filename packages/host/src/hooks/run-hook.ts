import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { endFamily, familyOf } from "@banyan/tools/processes";
import type { Hook } from "./entries.ts";

/** Bytes of output that a hook may have; one that says more is stopped. */
const MOST_OUTPUT = 1024 * 1024;

/** What came of a hook: what it said, or in a sentence why that counts for nothing. */
export type HookEnd =
  | { readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly problem: string };

/** Where a hook runs. */
export interface HookPlace {
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs a hook with JSON as its input, as the user and with their variables. However it goes, it ends: after its time, after
 * 1 MiB of output, and with the signal; so does all that it started. Never rejects.
 */
export async function runHook(
  { command, timeout }: Pick<Hook, "command" | "timeout">,
  input: object,
  { directory, env }: HookPlace,
  signal: AbortSignal,
): Promise<HookEnd> {
  const mark = randomUUID();
  const child = spawn("/bin/sh", ["-c", command], {
    cwd: directory,
    env: { ...env, CLAUDE_PROJECT_DIR: directory, BANYAN_PROJECT_DIR: directory, BANYAN_COMMANDS: mark },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const ended = Promise.withResolvers<HookEnd>();
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
      if (said[name].length > MOST_OUTPUT) ended.resolve({ problem: "said more than 1 MiB, and was stopped" });
    });
    // A pipe that breaks has nothing more to say.
    child[name].on("error", () => {});
  }
  // One that does not read what it is told has its reasons.
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(input));
  child.once("error", ({ message }) => ended.resolve({ problem: `could not be started: ${message}` }));
  child.once("close", (code, by) => {
    const first = said.stderr.trim().split("\n")[0] ?? "";
    if (code === 127 || code === 126) ended.resolve({ problem: `is not there, or cannot be run: ${first}` });
    else if (code === null) ended.resolve({ problem: `was ended by ${by}` });
    else ended.resolve({ code, ...said });
  });
  const timer = setTimeout(
    () => ended.resolve({ problem: `did not end within ${timeout / 1_000} s, and was stopped` }),
    timeout,
  );
  const onAbort = () => ended.resolve({ problem: "was stopped with what it was for" });
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const family = child.pid === undefined ? undefined : familyOf(child.pid, mark);
  try {
    return await ended.promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    if (family) await endFamily(family);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}
