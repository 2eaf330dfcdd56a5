import { type ConversationState, type FileChange, type Message, pathTo } from "@banyan/core/conversation";
import type { PageConversation } from "../conversation/live-conversation.ts";

/** A file change on a branch, and the message whose call made it. */
export interface BranchChange {
  readonly message: string;
  readonly call: string;
  readonly change: FileChange;
}

/** Returns the messages of a branch and of its sub-agents in order, without recursion. */
export function withSubAgents(tree: ConversationState, messages: readonly Message[]): Message[] {
  const found: Message[] = [];
  const open = [...messages].reverse();
  for (let message = open.pop(); message; message = open.pop()) {
    found.push(message);
    if (message.role !== "assistant") continue;
    for (const { id } of message.calls.toReversed()) {
      const launched = tree.children.get(id)?.at(-1);
      if (launched !== undefined) open.push(...subAgentMessages(tree, launched).reverse());
    }
  }
  return found;
}

function subAgentMessages(tree: ConversationState, first: string): Message[] {
  const found: Message[] = [];
  for (let id: string | undefined = first; id !== undefined; id = tree.children.get(id)?.at(-1)) {
    const message = tree.messages.get(id);
    if (message) found.push(message);
  }
  return found;
}

/** Returns the file changes of these messages' calls in order. Messages without loaded content give no changes. */
export function changesByCalls(messages: readonly Message[]): BranchChange[] {
  return messages.flatMap((message) =>
    message.role !== "assistant"
      ? []
      : message.calls.flatMap(({ id, changes = [] }) =>
          changes.map((change) => ({ message: message.id, call: id, change })),
        ),
  );
}

/** Returns the calls of a branch and its sub-agents that changed files, the last one first. */
export function undoableCallIds(tree: ConversationState, leaf: string | null): readonly string[] {
  const calls = changesByCalls(withSubAgents(tree, pathTo(tree, leaf))).map(({ call }) => call);
  return [...new Set(calls.toReversed())];
}

/** Returns the messages whose content the page has not loaded and that may have changed files. */
export function unreadChanges(conversation: PageConversation, messages: readonly Message[]): string[] {
  return messages.filter(({ id }) => (conversation.outline(id)?.changed ?? 0) > 0).map(({ id }) => id);
}

/** Returns the messages of the branch to `left` that are not on the branch to `to`. */
export function messagesLeft(tree: ConversationState, left: string, to: string | null): Message[] {
  const stay = new Set(pathTo(tree, to).map(({ id }) => id));
  return pathTo(tree, left).filter(({ id }) => !stay.has(id));
}
