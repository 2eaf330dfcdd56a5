import { createInterface } from "node:readline/promises";
import { UsageError } from "../problem.ts";

/**
 * Asks a person to type yes. `deed` says what would be done, `sentence` tells it whole. Rejects with `UsageError` where
 * nobody can be asked.
 */
export async function agreed(deed: string, sentence: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UsageError(`This would ${deed}. Add --yes: there is no terminal to ask in.`);
  const typed = await typedLine(`${sentence} Type yes to do it: `);
  return typed?.trim().toLowerCase() === "yes";
}

/** What a person types behind a question; nothing when they leave with Ctrl-C or Ctrl-D. */
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
