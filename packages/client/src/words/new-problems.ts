import type { Call } from "@banyan/core/conversation";
import { isAppliedReport, problemsIn } from "@banyan/core/shown";

/**
 * Returns the new problems that a call's result reports, as lines for its changed files. Other results may quote such a
 * report, so only calls that changed files have problems.
 * @example const [first = "no problems"] = problemsOfCall(toolCall); // "src/a.ts:2: error: Expected 1 argument."
 */
export function problemsOfCall({ changes = [], output = "" }: Pick<Call, "changes" | "output">): readonly string[] {
  return changes.length === 0 ? [] : problemsIn(output).problems;
}

/**
 * Splits a tool's message to the model for users: new problems as lines, and other text. A report that only lists
 * applied changes has no text, because clients show the changes.
 * @example const { text, problems } = toolReport("Some blocks were applied."); // no problems
 */
export function toolReport(message: string): { readonly text: string; readonly problems: readonly string[] } {
  const { rest, problems } = problemsIn(message);
  return { text: isAppliedReport(rest) ? "" : rest, problems };
}
