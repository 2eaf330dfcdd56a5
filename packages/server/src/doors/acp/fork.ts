import {
  type ConversationState,
  createId,
  idInAddress,
  newestLeaf,
  pathTo,
  pieceOfAddress,
} from "@banyan/core/conversation";

/** A session that parted from another one: a branch of the same tree, nothing is copied. */
export interface Fork {
  /** The message that it goes on from; null for one that parted before the first message. */
  readonly at: string | null;
  /** The id that its own first message has, or will have. */
  readonly first: string;
}

/** What the first messages of such branches are called, so that no branch takes another one's beginning for its own end. */
const FIRST = "fork-";

/** A session's conversation, and where in it. */
export interface NamedSession {
  readonly conversation: string;
  readonly fork?: Fork | undefined;
}

/** The id of a session: that of its conversation; for a fork with where it parts, and its first message. */
export function sessionIdOf({ conversation, fork }: NamedSession): string {
  const names = fork ? [conversation, fork.at ?? "", fork.first] : [conversation];
  return names.map(pieceOfAddress).join("/");
}

/** What a session's id names; nothing when it is none. */
export function sessionNamed(sessionId: string): NamedSession | undefined {
  const names = sessionId.split("/").map(idInAddress);
  const [conversation, at, first, ...more] = names;
  if (!conversation || more.length > 0) return undefined;
  if (names.length === 1) return { conversation };
  if (at === undefined || !first || !isFirstOfFork(first)) return undefined;
  return { conversation, fork: { at: at === "" ? null : at, first } };
}

/** A new branch that goes on from a message. */
export function forkAt(at: string | null): Fork {
  return { at, first: `${FIRST}${createId()}` };
}

/** Whether a message is the first of a branch that parted from another. */
export function isFirstOfFork(message: string): boolean {
  return message.startsWith(FIRST);
}

/** The end of the branch that a session is on: where the conversation was last written to, but for what parted from it. */
export function beginningOf(state: ConversationState, fork: Fork | undefined): string | null {
  if (fork) return state.messages.has(fork.first) ? outside(state, newestLeaf(state, fork.first), fork.first) : fork.at;
  return outside(state, state.leaf, undefined);
}

function outside(state: ConversationState, newest: string | null, own: string | undefined): string | null {
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
