import { type ConversationState, emptyConversation } from "../conversation/state.ts";
import { reduce } from "../conversation/tree/reduce.ts";
import type { Rights } from "../ports/rights.ts";
import type { Log } from "../ports/store.ts";
import { Voices } from "./voices.ts";

/** What a log says of a conversation when it is opened. */
export interface Past {
  readonly state: ConversationState;
  readonly voices: Voices;
  /** What a person allowed in it, here; absent where nothing is kept apart, and for a log that was put here. */
  readonly rights?: Rights | undefined;
}

/** A conversation of which nothing is known yet. */
export function noPast(conversation?: string): Past {
  const state = emptyConversation(conversation);
  return { state, voices: new Voices(state) };
}

/** Reads a log, which is closed when that fails. */
export async function pastOf(log: Log, conversation: string): Promise<Past> {
  const past = noPast(conversation);
  try {
    const rights = await log.rights?.read();
    for await (const events of log.read()) {
      for (const event of events) {
        reduce(past.state, event);
        past.voices.hear(event);
      }
    }
    return { ...past, rights };
  } catch (error) {
    await log.close();
    throw error;
  }
}
