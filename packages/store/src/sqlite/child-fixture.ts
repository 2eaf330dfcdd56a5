import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import type { OpenOptions } from "@banyan/core";
import { onTestFinished } from "vitest";
import { ID } from "./fixture.ts";

/**
 * Runs a program in a process of its own, with a store, a log of `ID` and a function that makes events at hand. `open`:
 * how the log is opened.
 */
export function run(
  directory: string,
  body: string,
  options: readonly string[] = [],
  open: OpenOptions = { create: true },
): { readonly child: ChildProcess; readonly lines: Interface } {
  const program = `
    import { sqliteStore } from ${JSON.stringify(import.meta.resolve("./index.ts"))};
    const store = sqliteStore({ directory: ${JSON.stringify(directory)}, program: "test" });
    const log = await store.open(${JSON.stringify(ID)}, ${JSON.stringify(open)});
    const event = (seq) => ({ type: "model.changed", model: "é".repeat(seq % 3000), seq, epoch: log.epoch, at: seq });
    ${body}`;
  const child = spawn(process.execPath, [...options, "--input-type=module", "--eval", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, lines: createInterface({ input: child.stdout as NodeJS.ReadableStream }) };
}

/** The next line that a program says; rejects when it ends without one. */
export async function nextLine(lines: Interface): Promise<string> {
  return Promise.race([
    once(lines, "line").then(([line]) => String(line)),
    once(lines, "close").then(() => Promise.reject(new Error("the program ended without a word"))),
  ]);
}

export async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
