import { type ConversationState, textOf, toolOf } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import { FIRST_WORDS } from "@banyan/protocol";
import type { LiveConversation } from "../conversation/live-conversation.ts";
import { t, tCount } from "../phrases/phrases.ts";
import type { OutlineRow } from "./rows.ts";

/** What a row is called: the name that somebody gave its last message, else how its first one begins. */
export function wordsOf(conversation: LiveConversation, tree: ConversationState, { id, first }: OutlineRow): string {
  return tree.messages.get(id)?.label ?? beginningOf(conversation, tree, first);
}

/** How a message begins, whether it has been read or not; what it called, when it says nothing. */
export function beginningOf(conversation: LiveConversation, tree: ConversationState, id: string): string {
  const message = tree.messages.get(id);
  const read = message && textOf(message).slice(0, 200).replace(/\s+/g, " ").trim();
  const written = conversation.outline(id)?.words ?? read ?? "";
  const words = message?.role === "user" ? written : withoutStars(written);
  if (words !== "") return words.length < FIRST_WORDS - 1 ? words : `${words.slice(0, FIRST_WORDS).trimEnd()} …`;
  if (message?.role !== "assistant") return t("(no text)");
  const unread = conversation.outline(id)?.calls;
  const called = message.calls.map((call) => visibleLine(toolOf(call)));
  if (unread === undefined && called.length === 0) return t("(no text)");
  return `(${unread === undefined ? [...new Set(called)].join(", ") : tCount(unread, "{count} call", "{count} calls")})`;
}

/** What a model wrote, without the stars around words that are strong. */
function withoutStars(text: string): string {
  return text.replaceAll(/(?<![\w*])\*\*(?=\S)(.+?)(?<=\S)\*\*(?![\w*])/g, "$1");
}
