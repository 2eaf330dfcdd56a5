import type { MessageAdded } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import { isSummary } from "../conversation/tree/path.ts";
import { noMessage, SessionError } from "../session/error.ts";
import { checkedId } from "../session/options.ts";
import type { Session } from "../session/session.ts";
import { estimate } from "./tokens.ts";

/**
 * Adds an edited summary as a sibling of the summary `id` (F99). The new summary covers the same messages and keeps the
 * same user words and state. Resolves with the id of the new message once the message is on the disk. A repeated `as`
 * adds nothing, so clients may retry. Rejects with `SessionError`: `no-message` for an unknown summary, `empty` for an
 * empty text, `invalid-option` for an invalid id.
 * @example
 * const summary = [...session.state.messages.values()].findLast(({ role }) => role === "summary");
 * if (summary) await editSummary(session, summary.id, "The user likes figs.");
 */
export async function editSummary(session: Session, id: string, text: string, as = createId()): Promise<string> {
  const { state } = session;
  if (state.messages.has(as)) return as;
  const message = checkedId("a message", as);
  const before = state.messages.get(id);
  if (before?.role !== "summary") throw noMessage(id);
  if (!isSummary(before))
    throw new SessionError("no-message", `The summary ${id} covers no messages, so it cannot be edited.`);
  if (text.trim() === "") throw new SessionError("empty", "A summary needs some text; this summary is empty.");
  const { parentId, covers, shortened, kept, leftOut, state: known, note, compaction, parts } = before;
  const longer = estimate(text) - estimate(parts.map((part) => part.text).join(""));
  const event: MessageAdded = {
    ...({ type: "message.added", role: "summary" } as const),
    message,
    parentId,
    parts: [{ type: "text", text } as const],
    ...(covers !== undefined && { covers }),
    ...(shortened && { shortened }),
    ...(kept && { kept }),
    ...(leftOut !== undefined && { leftOut }),
    ...(known !== undefined && { state: known }),
    ...(note !== undefined && { note }),
    ...(compaction && { compaction: { ...compaction, after: Math.max(0, compaction.after + longer) } }),
  };
  await session.commit([event], { durable: true });
  return message;
}
