import type { Call } from "@banyan/core/conversation";
import { isAppliedReport, problemsIn } from "@banyan/core/shown";

/**
 * Returns the new problems of a call as lines. The problems come from the call's result, and from changes that are
 * complete but not made yet. Only results of calls that changed files are read, because other results can quote a
 * report.
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
 * Splits a tool's message to the model into new problems as lines, and other text for users. A report that only lists
 * applied changes has no other text, because clients show the changes.
 * @example const { text, problems } = toolReport("Some blocks were applied."); // no problems
 */
export function toolReport(message: string): { readonly text: string; readonly problems: readonly string[] } {
  const { rest, problems } = problemsIn(message);
  return { text: isAppliedReport(rest) ? "" : rest, problems };
}
