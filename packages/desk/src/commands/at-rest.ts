import { type ConversationState, type Message, pathTo, type Session } from "@banyan/core";
import type { RestorationResult } from "@banyan/host";
import { AtWorkError, asAtWork, NotThereError } from "../request/problem.ts";

/** Throws `NotThereError` when one of these messages is not in the conversation. Ignores `undefined`. */
export function requireMessages({ messages }: ConversationState, ...named: readonly (string | undefined)[]): void {
  for (const id of named)
    if (id !== undefined && !messages.has(id))
      throw new NotThereError(`There is no message ${id} in this conversation.`);
}

/** Throws `AtWorkError` while a turn or a sub-agent works or waits for a user below one of these messages. */
export function requireRest(state: ConversationState, messages: Iterable<string | undefined>): void {
  const ends = new Set([...messages].map((id) => wayTo(state, id).at(-1)));
  const isOn = (leaf: string | null) => wayTo(state, leaf).some((message) => ends.has(message));
  if (state.runs.values().some(({ leaf }) => isOn(leaf))) throw new AtWorkError();
  if (state.waiting.values().some(({ leaf }) => isOn(leaf))) throw new AtWorkError({ isWaiting: true });
}

/**
 * Restores files while no turn has the end of the branch. A turn that is about to begin there waits, and then begins below the
 * message about the restored files. Throws when another turn is already about to begin there and is not in the log yet.
 */
export async function whileAtRest(
  session: Session,
  leaf: string,
  putBack: () => Promise<RestorationResult>,
): Promise<RestorationResult> {
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

/** The path to a message. For a sub-agent's message, the path to the call that launched the sub-agent. */
function wayTo(state: ConversationState, id: string | null = null): readonly Message[] {
  const path = pathTo(state, id);
  const call = path[0]?.call;
  return call === undefined ? path : wayTo(state, state.calls.get(call));
}
