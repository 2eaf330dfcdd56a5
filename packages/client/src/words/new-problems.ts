import type { Call } from "@banyan/core/conversation";
import { isAppliedReport, problemsIn } from "@banyan/core/shown";

/**
 * Returns the new problems of a call as lines: those that its result reports, and those of changes that are complete but
 * not made yet. Other results may quote a report, so a result counts only if the call changed files.
 * @example const [first = "no problems"] = problemsOfCall(toolCall); // "src/a.ts:2: error: Expected 1 argument."
 */
export function problemsOfCall({
  changes = [],
  output = "",
  drafts = [],
}: Pick<Call, "changes" | "output" | "drafts">): readonly string[] {
  const ahead = new Map(drafts.flatMap(({ path, problems }) => (problems ? [[path, problems] as const] : [])));
  return [...(changes.length === 0 ? [] : problemsIn(output).problems), ...[...ahead.values()].flat()];
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
