import { type ConversationState, siblings, textOf, toolNameOf } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import { FIRST_WORDS } from "@banyan/protocol";
import type { PageConversation } from "../../parts/conversation/live-conversation.ts";
import { t, tCount } from "../../parts/phrases/phrases.ts";
import type { OutlineRow } from "./rows.ts";

/**
 * Returns the name of a row: the label of its last message, or else the text that distinguishes its branch from others.
 */
export function rowName(conversation: PageConversation, tree: ConversationState, { id, first }: OutlineRow): string {
  return tree.messages.get(id)?.label ?? branchTitle(conversation, tree, first);
}

const COMPARED = 64;

/**
 * Returns the name of the branch that begins with a message: the start of its first message that a user or model wrote.
 * If sibling branches begin with the same message, the name begins with the answering model, and a number for equal
 * models (W90).
 */
export function branchTitle(conversation: PageConversation, tree: ConversationState, first: string): string {
  const wordsBelow = (id: string) => {
    const said = firstSaid(tree, id);
    return said === undefined ? t("(no text)") : messageBeginning(conversation, tree, said);
  };
  const words = wordsBelow(first);
  if (tree.messages.get(first)?.role !== "user") return words;
  const beside = siblings(tree, first);
  if (beside.length < 2 || beside.length > COMPARED) return words;
  const same = beside.filter((id) => wordsBelow(id) === words);
  const model = modelBelow(tree, first);
  const ofModel = same.filter((id) => modelBelow(tree, id) === model);
  const number = ofModel.length > 1 ? `(${ofModel.indexOf(first) + 1})` : "";
  const which = same.length > 1 ? [model, number].filter((each) => each).join(" ") : "";
  return which === "" ? words : `${which} · ${words}`;
}

/** The first message at or below this one that a user or a model wrote; `undefined` if none. */
function firstSaid(tree: ConversationState, id: string): string | undefined {
  for (let at: string | undefined = id; at !== undefined; at = tree.children.get(at)?.[0]) {
    const message = tree.messages.get(at);
    if (message?.role !== "user" || message.author !== "system") return at;
  }
  return undefined;
}

function modelBelow(tree: ConversationState, id: string): string | undefined {
  for (let at: string | undefined = id; at !== undefined; at = tree.children.get(at)?.[0]) {
    const message = tree.messages.get(at);
    if (message?.role === "assistant") return message.model;
  }
  return undefined;
}

/** Returns the beginning of a message, loaded or not, or the names of its calls if it has no text. */
export function messageBeginning(conversation: PageConversation, tree: ConversationState, id: string): string {
  const message = tree.messages.get(id);
  const read = message && textOf(message).slice(0, 200).replace(/\s+/g, " ").trim();
  const written = conversation.outline(id)?.words ?? read ?? "";
  const words =
    message?.role === "user" ? written : written.replaceAll(/(?<![\w*])\*\*(?=\S)(.+?)(?<=\S)\*\*(?![\w*])/g, "$1");
  if (words !== "") return words.length < FIRST_WORDS - 1 ? words : `${words.slice(0, FIRST_WORDS).trimEnd()} …`;
  if (message?.role !== "assistant") return t("(no text)");
  const unread = conversation.outline(id)?.calls;
  const called = message.calls.map((call) => visibleLine(toolNameOf(call)));
  if (unread === undefined && called.length === 0) return t("(no text)");
  return `(${unread === undefined ? [...new Set(called)].join(", ") : tCount(unread, "{count} call", "{count} calls")})`;
}
