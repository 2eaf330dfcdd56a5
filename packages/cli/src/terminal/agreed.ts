import { createInterface } from "node:readline/promises";
import { UsageError } from "../problem.ts";

/**
 * Asks a person to type yes. `deed` says what would be done, `sentence` tells it whole. Rejects with `UsageError` where
 * nobody can be asked.
 */
export async function agreed(deed: string, sentence: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UsageError(`This would ${deed}. Add --yes, since nobody can be asked here.`);
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-C and Ctrl-D are a no.
  const left = new AbortController();
  reader.once("SIGINT", () => left.abort()).once("close", () => left.abort());
  try {
    const answer = await reader.question(`${sentence} Type yes to do it: `, { signal: left.signal });
    return answer.trim().toLowerCase() === "yes";
  } catch (error) {
    if (!left.signal.aborted) throw error;
    process.stdout.write("\n");
    return false;
  } finally {
    reader.close();
  }
}
