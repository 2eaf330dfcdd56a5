import { type ConversationState, newestLeaf } from "@banyan/core";
import type { LiveConversation } from "../desk/live/live-conversation.ts";
import type { Asked } from "./driver.ts";

/** A run that is at work on a node, and will be left in the middle by it. */
export interface LeftRun {
  readonly live: LiveConversation;
  readonly run: string;
  /** The last message on its path, and the one above it. */
  readonly places: readonly (string | null)[];
}

/** Those that are at work in these conversations. What a sub-agent does is part of its agent's run. */
export function runsAtWork(conversations: readonly LiveConversation[]): LeftRun[] {
  return conversations.flatMap((live) => {
    const { runs, messages } = live.session.state;
    const own = [...runs.values()].filter(({ call }) => call === undefined);
    return own.map(({ id, leaf }) => ({ live, run: id, places: [leaf, messages.get(leaf ?? "")?.parentId ?? null] }));
  });
}

/** What asks another node to go on with it, once it was interrupted here. */
export function toGoOn({ live, run, places }: LeftRun): Asked {
  const { id: conversation, state } = live.session;
  const command = { type: "turn.resume" as const, id: `${run}-on`, conversation, ...placeIn(state, places) };
  return { id: `owner ${command.id}`, conversation, command, by: "owner" };
}

/** Where a run is gone on with: at the first of these that is there. An answer without a word is given up, and then it is not. */
export function placeIn(state: ConversationState, places: readonly (string | null)[]): { readonly at?: string } {
  const at = places.find((place) => place !== null && state.messages.has(place));
  return at ? { at: newestLeaf(state, at) } : {};
}
