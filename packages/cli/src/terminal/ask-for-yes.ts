import { createInterface } from "node:readline/promises";
import { UsageError } from "../program/problem.ts";

/**
 * Asks the user to type yes to `sentence`, such as "This removes a.". Without a terminal, rejects with a `UsageError`
 * that names the action `deed`, such as "remove a".
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
