import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { OpenLogOptions } from "@banyan/core/stores";
import { onTestFinished } from "vitest";
import { ID } from "./store.fixture.ts";

/**
 * Runs a program in a separate process, with a store, a log of `ID` and a function that creates events. `open` has the
 * options of opening the log.
 */
export function run(
  directory: string,
  body: string,
  options: readonly string[] = [],
  open: OpenLogOptions = { create: true },
): { readonly child: ChildProcess; readonly lines: Lines } {
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
  return { child, lines: linesOf(child.stdout as NodeJS.ReadableStream) };
}

/** The output lines of a program. Lines that arrive at once wait for the reader. */
export type Lines = AsyncIterableIterator<string>;

export function linesOf(input: NodeJS.ReadableStream): Lines {
  return createInterface({ input })[Symbol.asyncIterator]();
}

/** Returns the next output line; rejects if the program ends first. */
export async function nextLine(lines: Lines): Promise<string> {
  const { value, done } = await lines.next();
  if (done) throw new Error("the program ended without a word");
  return value;
}

export async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
