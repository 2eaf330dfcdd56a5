import { type ConversationState, type Message, pathTo, type Session } from "@banyan/core";
import type { RestorationResult } from "@banyan/host";
import { AtWorkError, asAtWork, NotThereError } from "../request/problem.ts";

/** Throws `NotThereError` if one of the messages is not in the conversation. */
export function requireMessages({ messages }: ConversationState, ...named: readonly (string | undefined)[]): void {
  for (const id of named)
    if (id !== undefined && !messages.has(id))
      throw new NotThereError(`There is no message ${id} in this conversation.`);
}

/** Throws `AtWorkError` if a turn or a sub-agent below one of these messages is running or waits for a user. */
export function requireRest(state: ConversationState, messages: Iterable<string | undefined>): void {
  const ends = new Set([...messages].map((id) => wayTo(state, id).at(-1)));
  const isOn = (leaf: string | null) => wayTo(state, leaf).some((message) => ends.has(message));
  if (state.runs.values().some(({ leaf }) => isOn(leaf))) throw new AtWorkError();
  if (state.waiting.values().some(({ leaf }) => isOn(leaf))) throw new AtWorkError({ isWaiting: true });
}

/**
 * Runs `putBack` while no turn can start at the end of the branch. A turn that wants to start there waits. Throws if
 * another turn is already about to start there but is not in the log yet.
 */
export async function whileAtRest<Result extends RestorationResult>(
  session: Session,
  leaf: string,
  putBack: () => Promise<Result>,
): Promise<Result> {
  try {
    return await session.hold(leaf, async (held) => {
      const taken = await putBack();
      if (taken.message !== undefined) held.moveTo(taken.message);
      return taken;
    });
  } catch (error) {
    throw asAtWork(error);
  }
}

/** For a sub-agent's message, the path of the call that launched the sub-agent. */
function wayTo(state: ConversationState, id: string | null = null): readonly Message[] {
  const path = pathTo(state, id);
  const call = path[0]?.call;
  return call === undefined ? path : wayTo(state, state.calls.get(call));
}
