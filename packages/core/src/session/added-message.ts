import { readUserContent, type UserContent } from "../conversation/checked/user-content.ts";
import { createId } from "../conversation/id.ts";
import type { Author, FileChange } from "../conversation/message.ts";
import { refuseUnknown } from "../conversation/option-names.ts";
import type { UserPart } from "../conversation/part.ts";
import { fileChangeProblem } from "../conversation/shape-problem.ts";
import type { ConversationState } from "../conversation/state.ts";
import { type Cost, cleanUsage, type Usage } from "../conversation/usage.ts";
import { noCall, noMessage, SessionError } from "./error.ts";
import { ADD, type AddMessageOptions, checkedId } from "./options.ts";

/** Returns a user's content as parts. Throws `SessionError` (`empty`), and `DirectiveError` for a wrong shape. */
export function checkedUserParts(content: UserContent): readonly UserPart[] {
  const parts = readUserContent(content);
  if (!parts) throw new SessionError("empty", "A message needs some text or a file; this message is empty.");
  return parts;
}

/** Builds the event of a user message that starts no turn. */
export function addedMessage(state: ConversationState, content: UserContent, options: AddMessageOptions) {
  refuseUnknown("session.add", options, ADD);
  const { author = "user", id = createId(), worktree } = options;
  const message = checkedId("a message", id);
  const parts = checkedUserParts(content);
  const parentId = parentAt(state, options.at);
  if (!["user", "system"].includes(author)) {
    throw invalidOption(`The author of an added message must be "user" or "system", not ${JSON.stringify(author)}.`);
  }
  const said = { author: author satisfies Author, parts, ...(worktree ? { worktree } : {}) };
  return { type: "message.added", message, parentId, role: "user", ...said } as const;
}

export type HistoryOptions = Pick<AddMessageOptions, "at" | "id">;

/** Returns the message below which a history is added, and the id of its last message. Throws `SessionError`. */
export function historyStart(state: ConversationState, owner: string, options: HistoryOptions) {
  refuseUnknown(owner, options, { at: true, ...(owner === "session.addHistory" && { id: true }) });
  const id = options.id === undefined ? undefined : checkedId("a message", options.id);
  return { at: parentAt(state, options.at), id };
}

function parentAt(state: ConversationState, at: string | null = state.leaf): string | null {
  if (at !== null && !state.messages.has(at)) throw noMessage(at);
  return at;
}

export function changedFile({ calls }: ConversationState, call: string, change: FileChange) {
  const message = calls.get(call);
  if (message === undefined) throw noCall(call);
  const problem = fileChangeProblem(change);
  if (problem !== undefined) throw invalidOption(problem);
  const { path, kind, before, after, added, removed, diff, mode } = change;
  const about = { path, kind, before, after, added, removed, diff, ...(mode && { mode }) };
  return { type: "file.changed", message, call, ...about } as const;
}

/** Tokens and cost of a model call outside the turns. The cost is in US dollars, if known. */
export interface SpentOutsideTurns {
  readonly purpose: "title" | "summary";
  readonly model: string;
  readonly usage: Usage;
  readonly cost?: Cost;
}

export function countedUsage(spent: SpentOutsideTurns) {
  const { purpose, model, usage, cost } = spent;
  if (!["title", "summary"].includes(purpose))
    throw invalidOption(`The purpose of spent tokens must be "title" or "summary", not ${JSON.stringify(purpose)}.`);
  if (typeof model !== "string" || model === "") throw invalidOption("Spent tokens need the id of a model.");
  if (cost !== undefined && !(cost >= 0))
    throw invalidOption(`cost is ${cost}; it must be an amount of US dollars, 0 or more.`);
  const event = { type: "usage.counted", purpose, model, usage: cleanUsage(usage) } as const;
  return cost === undefined ? event : { ...event, cost };
}

function invalidOption(message: string): SessionError {
  return new SessionError("invalid-option", message);
}
