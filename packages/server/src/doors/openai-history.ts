import { type ConversationState, isPersons, type Message, pathTo, type UserPart } from "@banyan/core/conversation";
import { Client } from "@banyan/protocol/client";
import type { Desk } from "../desk/desk.ts";
import type { Principal } from "../desk/principal.ts";
import { type OpenAiTurn, partsOf, textOf } from "./openai-words.ts";
import type { Asking } from "./turn.ts";

/** Words of the last answer by which it is looked for, and messages that are looked at: the newest in which all of them occur. */
const WORDS = 12;
const HITS = 20;

/**
 * Where a history stands that a program sends as a whole, as most of them do: the conversation that says just that, and the
 * message that began its last turn. Its last answer is looked for by its words, as a person would; what is found counts when
 * it says all of the history, word for word, and nothing else. So a chat of such a program is one conversation, and where it
 * changes what was said before, a branch of it. Nothing is kept for that.
 */
export async function placeOfHistory(
  desk: Desk,
  principal: Principal,
  history: readonly OpenAiTurn[],
): Promise<Pick<Asking, "conversation" | "behind"> | undefined> {
  const last = history.at(-1);
  if (last?.role !== "assistant") return undefined;
  // What a turn said in several messages they have in one, as paragraphs: the last paragraph is of the last message.
  const [end = ""] = textOf(last.content).split("\n\n").slice(-1);
  const query = (end.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, WORDS).join(" ");
  if (query === "") return undefined;
  const client = new Client(desk.link({ principal }));
  try {
    const { hits } = await client.ask("conversation.search", { query, limit: HITS });
    for (const hit of hits) {
      if (hit.role !== "assistant") continue;
      const watched = await client.watch(hit.conversation, hit.message).loaded;
      await watched.read(pathTo(watched.state, hit.message).map(({ id }) => id));
      const behind = lastTurnOf(watched.state, hit.message, history);
      if (behind !== undefined) return { conversation: hit.conversation, behind };
    }
    return undefined;
  } finally {
    client.close();
  }
}

/** The message that began the last turn of a branch, when the branch says this history. */
function lastTurnOf(state: ConversationState, leaf: string, history: readonly OpenAiTurn[]): string | undefined {
  const first = history.findIndex(({ role }) => role === "user");
  const said = [
    partsOf(history.slice(0, first + 1)),
    ...history.slice(first + 1).map(({ content }) => textOf(content)),
  ];
  let at = 0;
  let began: string | undefined;
  for (const turn of turnsOf(pathTo(state, leaf))) {
    const [parts, answer] = [said[at++], said[at++]];
    const expected = typeof parts === "string" ? [{ type: "text", text: parts }] : parts;
    if (JSON.stringify(turn.parts) !== JSON.stringify(expected) || turn.answer !== answer) return undefined;
    began = turn.message;
  }
  return at === said.length ? began : undefined;
}

/** A path as the programs have it: what a person said, and all that was answered. */
function turnsOf(path: readonly Message[]) {
  const turns: { readonly message: string; readonly parts: readonly UserPart[]; answer: string }[] = [];
  for (const each of path) {
    if (isPersons(each)) turns.push({ message: each.id, parts: each.parts, answer: "" });
    const turn = turns.at(-1);
    if (each.role !== "assistant" || !turn) continue;
    const text = each.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    if (text !== "") turn.answer += (turn.answer && "\n\n") + text;
  }
  return turns;
}
