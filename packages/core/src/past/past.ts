import type { Message } from "../conversation/message.ts";
import { type ConversationState, emptyConversation } from "../conversation/state.ts";
import { pathTo, placeAfterForgotten } from "../conversation/tree/path.ts";
import { reduce } from "../conversation/tree/reduce.ts";
import type { Rights } from "../ports/rights.ts";
import type { Log, LogView } from "../ports/store.ts";
import type { recover } from "./recovery.ts";
import { ResponseSources } from "./response-sources.ts";
import { TurnSpending } from "./turn-spending.ts";

/** The state of a conversation when it is opened, with its log. */
export interface Past {
  readonly state: ConversationState;
  readonly sources: ResponseSources;
  readonly spending: TurnSpending;
  /**
   * Permissions that a user gave on this machine. Absent: the store keeps no permissions, or the log was copied here.
   */
  readonly rights?: Rights | undefined;
  /** Absent: the log has no events yet. */
  readonly recover?: typeof recover;
}

type Labels = ConversationState["labels"];

/** Returns the state of a new conversation, which the store creates with the first message. */
export function emptyPast(conversation?: string, labels?: Labels): Past {
  const state = emptyConversation(conversation, labels);
  return { state, sources: new ResponseSources(state), spending: new TurnSpending(state) };
}

/** Reads a log. If the reading fails, closes the log. `labels`: the labels of a conversation that has no events yet. */
export async function pastOf(log: Log, conversation: string, labels?: Labels): Promise<Past> {
  const past = emptyPast(conversation, labels);
  try {
    const rights = await log.rights?.read();
    for await (const events of log.read()) {
      for (const event of events) {
        reduce(past.state, event);
        past.sources.add(event);
        past.spending.hear(event);
      }
    }
    return { ...past, rights, ...(past.state.seq > 0 && { recover: (await import("./recovery.ts")).recover }) };
  } catch (error) {
    await log.close();
    throw error;
  }
}

/** Returns a path, with messages from the log if memory no longer has them. Rejects if there is no log. */
export async function readWholePath(
  path: readonly Message[],
  log: LogView | undefined,
  conversation: string,
): Promise<readonly Message[]> {
  const from = placeAfterForgotten(path);
  const parentId = path[from]?.parentId ?? null;
  if (parentId === null) return path;
  if (!log)
    throw new Error("This session has no log and keeps only its last messages, so earlier messages cannot be read.");
  const state = emptyConversation(conversation);
  for await (const events of log.read()) for (const event of events) reduce(state, event);
  return [...pathTo(state, parentId), ...path.slice(from)];
}
