import { type ConversationState, type Message, pathTo } from "@banyan/core";
import { AtWork, NotThere } from "./problem.ts";

/** Throws when one of these messages is not there; what is `undefined` is not meant. */
export function mustBeThere({ messages }: ConversationState, ...named: readonly (string | undefined)[]): void {
  for (const id of named)
    if (id !== undefined && !messages.has(id)) throw new NotThere(`There is no message ${id} in this conversation.`);
}

/** Throws while an agent goes on from one of these messages, or one of its sub-agents does. */
export function mustBeAtRest(state: ConversationState, messages: Iterable<string | undefined>): void {
  const ends = new Set([...messages].map((id) => wayTo(state, id).at(-1)));
  for (const { leaf } of state.runs.values())
    if (wayTo(state, leaf).some((message) => ends.has(message))) throw new AtWork();
}

/** The path to a message; for one of a sub-agent, to the call that launched it. */
function wayTo(state: ConversationState, id: string | null = null): readonly Message[] {
  const path = pathTo(state, id);
  const call = path[0]?.call;
  return call === undefined ? path : wayTo(state, state.calls.get(call));
}
