import { Client, ClientError, type WatchedConversation } from "@banyan/client";
import { type ConversationState, isUserMessage, type Message, pathTo } from "@banyan/core/conversation";
import type { Desk, Principal } from "@banyan/desk";
import { PROGRAM } from "@banyan/host";
import { isToldBefore } from "../door.ts";
import type { TurnRequest } from "./turn.ts";
import { isSystem, type OpenAiTurn, openAiText } from "./words.ts";

/** Maximum number of words in a search query, of queries, and of examined hits. */
const WORDS = 12;
const QUERIES = 4;
const HITS = 50;

interface HistoryTurn {
  readonly said: string;
  readonly answer: string;
}

/** The branch that a request continues. */
export interface ContinuedBranch extends Pick<TurnRequest, "conversation" | "at" | "beside"> {
  /** Number of turns of the request's history that the branch contains. */
  readonly turns: number;
  /** The program's system messages that are missing on the branch. */
  readonly missing: readonly OpenAiTurn[];
}

/**
 * Finds the branch that ends with the history that a program sends. If several conversations match, returns the newest.
 * In this way, a chat of the program is one conversation, and an edited or repeated message is a branch. Nothing is
 * stored for this: Banyan searches for the texts of the history, as a user would.
 */
export async function branchOfHistory(
  desk: Desk,
  principal: Principal,
  history: readonly OpenAiTurn[],
): Promise<ContinuedBranch | undefined> {
  const wanted = turnsOfHistory(history, (text) => desk.redact(text));
  if (wanted.length === 0) return undefined;
  const client = new Client(desk.link({ principal }));
  const seen = new Set<string>();
  try {
    for (const query of queriesFor(wanted)) {
      const { hits } = await client.ask("conversation.search", { query, limit: HITS, programs: true });
      for (const { conversation } of hits) {
        if (seen.has(conversation)) continue;
        seen.add(conversation);
        const watched = await client.watch(conversation).loaded;
        const branch = await longestMatch(watched, wanted);
        if (branch?.matched === wanted.length) return continuedBranch(watched.state, branch, history);
        await client.leave(watched);
      }
    }
    return undefined;
  } finally {
    client.close();
  }
}

/**
 * Returns the place of the next message in the conversation of a named chat: below the part of the history that the
 * conversation contains, or next to its first message. `undefined` if the conversation does not exist.
 */
export async function branchInChat(
  desk: Desk,
  principal: Principal,
  conversation: string,
  history: readonly OpenAiTurn[],
): Promise<ContinuedBranch | undefined> {
  const client = new Client(desk.link({ principal }));
  try {
    const watched = await client.watch(conversation).loaded;
    const wanted = turnsOfHistory(history, (text) => desk.redact(text));
    const branch = await longestMatch(watched, wanted);
    return continuedBranch(watched.state, branch, history);
  } catch (error) {
    if (error instanceof ClientError && error.code === "not-found") return undefined;
    throw error;
  } finally {
    client.close();
  }
}

function queriesFor(wanted: readonly HistoryTurn[]): readonly string[] {
  const texts = wanted.flatMap(({ said, answer }) => [said, answer]).reverse();
  const queries = texts.map((text) => (text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).slice(0, WORDS).join(" "));
  return [...new Set(queries.filter((query) => query !== ""))].slice(0, QUERIES);
}

interface MatchedBranch {
  readonly matched: number;
  readonly at?: string;
  readonly path: readonly Message[];
}

/** The branch with the longest match; `undefined` in a conversation that no program created. */
async function longestMatch(
  watched: WatchedConversation,
  wanted: readonly HistoryTurn[],
): Promise<MatchedBranch | undefined> {
  const { state } = watched;
  if (state.labels[PROGRAM] === undefined) return undefined;
  await watched.read([...state.messages.keys()]);
  let best: MatchedBranch | undefined;
  for (const leaf of [...state.messages.keys()].reverse()) {
    if ((state.children.get(leaf) ?? []).length > 0) continue;
    const path = pathTo(state, leaf);
    const turns = turnsOfPath(path);
    let matched = 0;
    while (matched < wanted.length && isSaid(turns[matched], wanted[matched])) matched++;
    const at = turns[matched - 1]?.last;
    if (!best || matched > best.matched) best = { matched, path, ...(at !== undefined && { at }) };
  }
  return best;
}

function continuedBranch(
  state: ConversationState,
  branch: MatchedBranch | undefined,
  history: readonly OpenAiTurn[],
): ContinuedBranch {
  const { matched: turns = 0, at, path = [] } = branch ?? {};
  const root = path.find(isUserMessage)?.id;
  const where = at !== undefined ? { at } : root !== undefined ? { beside: root } : {};
  const known =
    at === undefined
      ? ""
      : path
          .slice(0, path.findIndex(({ id }) => id === at) + 1)
          .map(historyTextOf)
          .join("\n");
  // A program may change its system message with each request: a text that the branch already has is not repeated.
  const missing = history.filter(({ role, content }) => isSystem(role) && !known.includes(openAiText(content)));
  return { conversation: state.id, ...where, turns, missing };
}

/** Returns the last turns of a branch, each with message and answer, as a program would quote them. */
export function lastExchanges(path: readonly Message[], count: number): readonly HistoryTurn[] {
  return turnsOfPath(path)
    .slice(-count)
    .filter(({ answer }) => answer !== "");
}

function turnsOfHistory(history: readonly OpenAiTurn[], redact: (text: string) => string): readonly HistoryTurn[] {
  const turns: { said: string; answer: string }[] = [];
  for (const { role, content } of history) {
    if (isSystem(role)) continue;
    const text = contentText(content);
    if (role === "user") turns.push({ said: comparable(redact(text)), answer: "" });
    else if (text !== "") {
      const turn = turns.at(-1) ?? { said: "", answer: "" };
      if (turns.length === 0) turns.push(turn);
      turn.answer = comparable(`${turn.answer} ${redact(text)}`);
    }
  }
  return turns;
}

function turnsOfPath(path: readonly Message[]) {
  const turns: { said: string; answer: string; last: string; isCut: boolean }[] = [];
  for (const each of path) {
    if (isUserMessage(each)) {
      const texts = each.parts.flatMap((part) => (part.type === "text" && !isToldBefore(part.text) ? [part.text] : []));
      turns.push({ said: comparable(texts.join("\n")), answer: "", last: each.id, isCut: false });
      continue;
    }
    const turn = turns.at(-1);
    if (!turn || each.role !== "assistant") continue;
    const text = each.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    turn.answer = comparable(`${turn.answer} ${text}`);
    turn.last = each.id;
    turn.isCut = each.finish === undefined || each.finish === "interrupted" || each.error !== undefined;
  }
  return turns;
}

/**
 * Returns whether a turn of a branch matches a program's. A program may have only the beginning of an answer (cut off),
 * or only its end (if the answer began twice). The branch alone has additions of the program and filled-in commands:
 * its message may be longer, or the program's may start with a slash.
 */
function isSaid(turn: ReturnType<typeof turnsOfPath>[number] | undefined, wanted: HistoryTurn | undefined): boolean {
  if (!turn || !wanted) return false;
  const isAnswer =
    turn.answer === wanted.answer ||
    (turn.answer !== "" && wanted.answer.endsWith(` ${turn.answer}`)) ||
    (turn.isCut && (turn.answer.startsWith(wanted.answer) || wanted.answer.startsWith(turn.answer)));
  const isMessage =
    turn.said === wanted.said || wanted.said.startsWith("/") || (wanted.said !== "" && turn.said.includes(wanted.said));
  return isAnswer && isMessage;
}

/** The texts of a content, without its images: programs change or omit images when they resend them. */
function contentText(content: OpenAiTurn["content"]): string {
  if (typeof content === "string") return content;
  return content.flatMap((piece) => ("text" in piece ? [piece.text] : [])).join("\n");
}

function historyTextOf(message: Message): string {
  if (!isUserMessage(message)) return "";
  return message.parts
    .flatMap((part) => (part.type === "text" && isToldBefore(part.text) ? [part.text] : []))
    .join("\n");
}

/** Normalises a text for comparison: programs change whitespace and Unicode forms, and store reasoning in answers. */
export function comparable(text: string): string {
  return text
    .replace(/<details type="reasoning"[\s\S]*?<\/details>|^\s*<think>[\s\S]*?<\/think>/g, " ")
    .normalize("NFC")
    .replace(/\s+/g, " ")
    .trim();
}
