import { type ConversationState, type Message, pathTo, type Session } from "@banyan/core";
import type { TakenBack } from "@banyan/host";
import { AtWork, asAtWork, NotThere } from "../problem.ts";

/** Throws when one of these messages is not in the conversation; `undefined` is passed over. */
export function mustBeThere({ messages }: ConversationState, ...named: readonly (string | undefined)[]): void {
  for (const id of named)
    if (id !== undefined && !messages.has(id)) throw new NotThere(`There is no message ${id} in this conversation.`);
}

/** Throws while an agent goes on from one of these messages, or one of its sub-agents does, or waits for a user there. */
export function mustBeAtRest(state: ConversationState, messages: Iterable<string | undefined>): void {
  const ends = new Set([...messages].map((id) => wayTo(state, id).at(-1)));
  const isOn = (leaf: string | null) => wayTo(state, leaf).some((message) => ends.has(message));
  if (state.runs.values().some(({ leaf }) => isOn(leaf))) throw new AtWork();
  if (state.waiting.values().some(({ leaf }) => isOn(leaf))) throw new AtWork({ isWaiting: true });
}

/**
 * Puts files back while nobody else has the end of the branch: a turn that is to begin there waits, and then begins below the
 * message that says what was put back. Throws when somebody is about to begin there already, of whom the log does not know yet.
 */
export async function whileAtRest(
  session: Session,
  leaf: string,
  putBack: () => Promise<TakenBack>,
): Promise<TakenBack> {
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

/** The path to a message; for one of a sub-agent, to the call that launched it. */
function wayTo(state: ConversationState, id: string | null = null): readonly Message[] {
  const path = pathTo(state, id);
  const call = path[0]?.call;
  return call === undefined ? path : wayTo(state, state.calls.get(call));
}
