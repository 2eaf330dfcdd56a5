import type { ConversationState } from "@banyan/core/conversation";

/** What is marked in a tree, beside its messages. */
export interface Marks {
  /** Where runs are: the last message of each, and of a sub-agent's the message that launched it (W11). */
  readonly running: ReadonlySet<string>;
  /** Where something waits for a person; a sub-agent's stands as its run does. */
  readonly waiting: ReadonlySet<string>;
  /** Messages that lead to one that is marked as running, or as waiting. */
  readonly aboveRunning: ReadonlySet<string>;
  readonly aboveWaiting: ReadonlySet<string>;
  /** Starred messages, and those that lead to one (W13). */
  readonly leadsToStar: ReadonlySet<string>;
  /** What a search has found (W19). */
  readonly hits: ReadonlySet<string>;
}

/** What is marked in a tree as it is now. Each message is visited once, whatever the number of marks. */
export function marksOf(tree: ConversationState, hits: ReadonlySet<string>): Marks {
  const running = new Set<string>();
  for (const { leaf } of tree.runs.values()) {
    const shown = inOwnConversation(tree, leaf);
    if (shown !== undefined) running.add(shown);
  }
  const waiting = new Set<string>();
  for (const { message } of tree.questions.values()) {
    const shown = inOwnConversation(tree, message);
    if (shown !== undefined) waiting.add(shown);
  }
  const starred = [...tree.messages.values()].filter((message) => message.starred && !message.removed);
  return {
    ...{ running, waiting },
    aboveRunning: withAbove(tree, running),
    aboveWaiting: withAbove(tree, waiting),
    leadsToStar: withAbove(
      tree,
      starred.map(({ id }) => id),
    ),
    hits,
  };
}

/** The messages, and all above them. */
function withAbove(tree: ConversationState, messages: Iterable<string>): Set<string> {
  const found = new Set<string>();
  for (const message of messages) {
    for (let id: string | null = message; id !== null && !found.has(id); id = tree.messages.get(id)?.parentId ?? null) {
      found.add(id);
    }
  }
  return found;
}

/** The message of the person's own conversation from which one of a sub-agent was launched; itself if it is of none. */
function inOwnConversation(tree: ConversationState, message: string | null): string | undefined {
  let id = message ?? undefined;
  while (id !== undefined) {
    const call = tree.messages.get(id)?.call;
    if (call === undefined) return id;
    id = tree.calls.get(call);
  }
  return undefined;
}
