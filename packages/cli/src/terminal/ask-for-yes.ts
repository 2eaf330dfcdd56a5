import { createInterface } from "node:readline/promises";
import { UsageError } from "../program/problem.ts";

/**
 * Asks the user to type yes. `deed`: what needs the yes, for the error. `sentence`: the full question. Rejects with
 * `UsageError` without a terminal.
 */
export async function askForYes(deed: string, sentence: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UsageError(`This would ${deed}. Without a terminal, confirm with --yes.`);
  const typed = await typedLine(`${sentence} Type yes to continue: `);
  return typed?.trim().toLowerCase() === "yes";
}

/** Reads a line after a question. Undefined if the user leaves with Ctrl-C or Ctrl-D. */
export async function typedLine(question: string): Promise<string | undefined> {
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  const left = new AbortController();
  reader.once("SIGINT", () => left.abort()).once("close", () => left.abort());
  try {
    return await reader.question(question, { signal: left.signal });
  } catch (error) {
    if (!left.signal.aborted) throw error;
    process.stdout.write("\n");
    return undefined;
  } finally {
    reader.close();
  }
}
