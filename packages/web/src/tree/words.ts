import { type ConversationState, textOf } from "@banyan/core/conversation";
import type { LiveConversation } from "../conversation/live-conversation.ts";
import type { OutlineRow } from "./rows.ts";

/** What a row is called: the name that somebody gave its last message, else how its first one begins. */
export function wordsOf(conversation: LiveConversation, tree: ConversationState, { id, first }: OutlineRow): string {
  return tree.messages.get(id)?.label ?? beginningOf(conversation, tree, first);
}

/** How a message begins, whether it has been read or not; what it is, when it says nothing. */
export function beginningOf(conversation: LiveConversation, tree: ConversationState, id: string): string {
  const outlined = conversation.outline(id)?.words;
  if (outlined !== undefined) return outlined;
  const message = tree.messages.get(id);
  const words = message ? textOf(message).slice(0, 200).replace(/\s+/g, " ").trim().slice(0, 60) : "";
  if (words !== "") return words;
  return message?.role === "assistant" ? "(only calls)" : "(no text)";
}
