import { createId } from "../conversation/id.ts";
import { type Author, type FileChange, partsOf, type UserPart } from "../conversation/message.ts";
import { refuseUnknown } from "../conversation/option-names.ts";
import type { ConversationState } from "../conversation/state.ts";
import { type Cost, cleanUsage, type Usage } from "../conversation/usage.ts";
import { emptyMessage, noCall, noMessage, SessionError } from "./error.ts";
import { ADD, type AddOptions, checkedId } from "./options.ts";

/** What a program around the engine puts into a conversation, checked. Each throws `SessionError`, as the session says. */

/** A user message that is to stand without a turn. */
export function addedMessage(state: ConversationState, content: string | readonly UserPart[], options: AddOptions) {
  refuseUnknown("session.add", options, ADD);
  const { at, author = "user", id = createId(), worktree } = options;
  const message = checkedId("a message", id);
  const parts = partsOf(content);
  if (!parts) throw emptyMessage();
  const parentId = at === undefined ? state.leaf : at;
  if (parentId !== null && !state.messages.has(parentId)) throw noMessage(parentId);
  if (!["user", "system"].includes(author)) {
    throw invalid(`The author of an added message is "user" or "system"; this is ${JSON.stringify(author)}.`);
  }
  const said = { author: author satisfies Author, parts, ...(worktree ? { worktree } : {}) };
  return { type: "message.added", message, parentId, role: "user", ...said } as const;
}

/** What was done to a file on account of a call. */
export function changedFile({ calls }: ConversationState, call: string, change: FileChange) {
  const message = calls.get(call);
  if (message === undefined) throw noCall(call);
  const { path, kind, before, after, added, removed, diff } = change;
  if (typeof path !== "string" || path === "") throw invalid("A file change needs the path of its file.");
  if (!["created", "changed", "deleted"].includes(kind)) {
    throw invalid(`The kind of a file change is "created", "changed" or "deleted"; this is ${JSON.stringify(kind)}.`);
  }
  for (const [name, content] of Object.entries({ before, after })) {
    if (content !== null && typeof content !== "string")
      throw invalid(`${name} of a file change names a content, or is null where there is no file.`);
  }
  for (const [name, lines] of Object.entries({ added, removed })) {
    if (!Number.isInteger(lines) || lines < 0)
      throw invalid(`${name} of a file change is ${lines}; it is a number of lines, 0 or more.`);
  }
  if (typeof diff !== "string")
    throw invalid("diff of a file change is a text; it is empty for a file that is no text.");
  return { type: "file.changed", message, call, path, kind, before, after, added, removed, diff } as const;
}

/** What a model call outside of the turns used: tokens, and US dollars where the price is known. */
export interface SpentOutsideTurns {
  readonly purpose: "title" | "summary";
  readonly model: string;
  readonly usage: Usage;
  readonly cost?: Cost;
}

/** The event that counts what a model call outside of the turns used. */
export function countedUsage(spent: SpentOutsideTurns) {
  const { purpose, model, usage, cost } = spent;
  if (!["title", "summary"].includes(purpose))
    throw invalid(`A model is asked for a "title" or a "summary"; this is ${JSON.stringify(purpose)}.`);
  if (typeof model !== "string" || model === "") throw invalid("What was spent needs the id of the model.");
  if (cost !== undefined && !(cost >= 0)) throw invalid(`cost is ${cost}; it is in US dollars, 0 or more.`);
  const event = { type: "usage.counted", purpose, model, usage: cleanUsage(usage) } as const;
  return cost === undefined ? event : { ...event, cost };
}

function invalid(message: string): SessionError {
  return new SessionError("invalid-option", message);
}
