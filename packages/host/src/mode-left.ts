import { pathTo, type Session } from "@banyan/core";
import { lastSaid } from "./persons-command.ts";

/**
 * How a run was to work that a process left in the middle on the way to a message, the last one written when absent: so
 * goes on whoever resumes it. Nothing where none was left, or where a person has said something since.
 */
export function modeLeft(
  { interrupted, state }: Pick<Session, "interrupted" | "state">,
  at = state.leaf,
): "chat" | "task" | undefined {
  const path = pathTo(state, at);
  const said = lastSaid(path);
  const since = new Set(path.slice(said ? path.indexOf(said) : 0).map(({ id }) => id));
  return interrupted.findLast(({ call, leaf }) => call === undefined && since.has(leaf ?? ""))?.mode;
}
