import type { ConversationState } from "@banyan/core/conversation";

/** The messages of a tree that run, wait for the user, are starred or match a search. */
export interface TreeMarks {
  /**
   * The messages at which runs work: the last message of each run, or the message that launched a running sub-agent
   * (W11).
   */
  readonly running: ReadonlySet<string>;
  /** Messages with open questions; for a sub-agent's question, the message that launched the sub-agent. */
  readonly waiting: ReadonlySet<string>;
  /** The ancestors of messages that run or wait. */
  readonly aboveRunning: ReadonlySet<string>;
  readonly aboveWaiting: ReadonlySet<string>;
  /** Starred messages and their ancestors (W13). */
  readonly leadsToStar: ReadonlySet<string>;
  readonly hits: ReadonlySet<string>;
}

/** Computes the marks of a tree. Visits each message once, however many marks there are. */
export function treeMarks(tree: ConversationState, hits: ReadonlySet<string>): TreeMarks {
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
    running,
    waiting,
    aboveRunning: withAbove(tree, running),
    aboveWaiting: withAbove(tree, waiting),
    leadsToStar: withAbove(
      tree,
      starred.map(({ id }) => id),
    ),
    hits,
  };
}

function withAbove(tree: ConversationState, messages: Iterable<string>): Set<string> {
  const found = new Set<string>();
  for (const message of messages) {
    for (let id: string | null = message; id !== null && !found.has(id); id = tree.messages.get(id)?.parentId ?? null) {
      found.add(id);
    }
  }
  return found;
}

/** The message of the main conversation that launched a sub-agent's message; other messages are returned unchanged. */
function inOwnConversation(tree: ConversationState, message: string | null): string | undefined {
  let id = message ?? undefined;
  while (id !== undefined) {
    const call = tree.messages.get(id)?.call;
    if (call === undefined) return id;
    id = tree.calls.get(call);
  }
  return undefined;
}
