import {
  type ConversationState,
  createId,
  idInAddress,
  idToAddress,
  newestLeaf,
  pathTo,
} from "@banyan/core/conversation";

/** A session that forked from another: a branch of the same conversation, without copies. */
export interface Fork {
  /** The message to continue from; `null` for a fork before the first message. */
  readonly at: string | null;
  /** The id of the fork's first message, which may not exist yet. */
  readonly first: string;
}

/** The prefix of the ids of forks' first messages, so that no branch takes the start of a fork for its own end. */
const FIRST = "fork-";

/** The conversation of a session, and its fork if any. */
export interface NamedSession {
  readonly conversation: string;
  readonly fork?: Fork | undefined;
}

/** Returns the id of a session: its conversation's id, and for a fork also its parent message and first message. */
export function sessionIdOf({ conversation, fork }: NamedSession): string {
  const names = fork ? [conversation, fork.at ?? "", fork.first] : [conversation];
  return names.map(idToAddress).join("/");
}

/** Parses a session id; `undefined` if it is invalid. */
export function sessionNamed(sessionId: string): NamedSession | undefined {
  const names = sessionId.split("/").map(idInAddress);
  const [conversation, at, first, ...more] = names;
  if (!conversation || more.length > 0) return undefined;
  if (names.length === 1) return { conversation };
  if (at === undefined || !first || !isFirstOfFork(first)) return undefined;
  return { conversation, fork: { at: at === "" ? null : at, first } };
}

/** Creates a fork that continues from a message. */
export function forkAt(at: string | null): Fork {
  return { at, first: `${FIRST}${createId()}` };
}

/** Returns whether a message is the first of a fork. */
export function isFirstOfFork(message: string): boolean {
  return message.startsWith(FIRST);
}

/** Returns the last message of a fork. Without a fork, returns the newest message that belongs to no fork. */
export function forkedLeaf(state: ConversationState, fork: Fork | undefined): string | null {
  if (fork)
    return state.messages.has(fork.first)
      ? leafOutsideForks(state, newestLeaf(state, fork.first), fork.first)
      : fork.at;
  return leafOutsideForks(state, state.leaf, undefined);
}

function leafOutsideForks(state: ConversationState, newest: string | null, own: string | undefined): string | null {
  let leaf = newest;
  for (;;) {
    const parted = pathTo(state, leaf).find(({ id }, index, path) => {
      const isBelowOwn = own === undefined || path.slice(0, index).some((above) => above.id === own);
      return isBelowOwn && isFirstOfFork(id);
    });
    if (!parted) return leaf;
    const others = (state.children.get(parted.parentId) ?? []).filter((id) => !isFirstOfFork(id));
    const last = others.at(-1);
    leaf = last === undefined ? parted.parentId : newestLeaf(state, last);
  }
}
