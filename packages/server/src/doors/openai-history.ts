import { Client, ClientError, type Watched } from "@banyan/client";
import { type ConversationState, isPersons, type Message, pathTo } from "@banyan/core/conversation";
import { PROGRAM } from "@banyan/host";
import type { Desk } from "../desk/desk.ts";
import type { Principal } from "../desk/principal.ts";
import { TOLD_BEFORE } from "./door.ts";
import { type OpenAiTurn, textOf } from "./openai-words.ts";
import type { Asking } from "./turn.ts";

/** Words of a text by which conversations are looked for, texts that are tried, and hits that are looked at. */
const WORDS = 12;
const QUERIES = 4;
const HITS = 50;

/** A user's message and its answer, as texts that can be compared. */
interface Turn {
  readonly said: string;
  readonly answer: string;
}

/** The branch that a request continues, and the texts of its program that no message of the branch has. */
export interface HistoryPlace extends Pick<Asking, "conversation" | "at" | "beside"> {
  readonly told: readonly OpenAiTurn[];
}

/**
 * Finds where a history stands that a program sends whole, as most programs do: the newest conversation of a program with a
 * branch that says all of the history, and nothing behind it. So a chat of such a program is one conversation, and a message
 * that was edited or asked again is a branch. Nothing is kept for that: texts of the history are looked for as a user would.
 */
export async function placeOfHistory(
  desk: Desk,
  principal: Principal,
  history: readonly OpenAiTurn[],
): Promise<HistoryPlace | undefined> {
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
        const place = await bestPlace(watched, wanted);
        if (place?.matched === wanted.length) return placed(watched.state, place, history, wanted.length);
        await client.leave(watched);
      }
    }
    return undefined;
  } finally {
    client.close();
  }
}

/**
 * Finds where a history stands in the conversation of a chat that its program names: behind all that the conversation knows of
 * it, or beside its first message when it knows nothing. Nothing when there is no such conversation.
 */
export async function placeInChat(
  desk: Desk,
  principal: Principal,
  conversation: string,
  history: readonly OpenAiTurn[],
): Promise<HistoryPlace | undefined> {
  const client = new Client(desk.link({ principal }));
  try {
    const watched = await client.watch(conversation).loaded;
    const wanted = turnsOfHistory(history, (text) => desk.redact(text));
    const place = await bestPlace(watched, wanted);
    return placed(watched.state, place, history, wanted.length);
  } catch (error) {
    if (error instanceof ClientError && error.code === "not-found") return undefined;
    throw error;
  } finally {
    client.close();
  }
}

/** Texts of a history that are looked for: the newest first, since a search finds the newest messages. */
function queriesFor(wanted: readonly Turn[]): readonly string[] {
  const texts = wanted.flatMap(({ said, answer }) => [said, answer]).reverse();
  const queries = texts.map((text) => (text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).slice(0, WORDS).join(" "));
  return [...new Set(queries.filter((query) => query !== ""))].slice(0, QUERIES);
}

/** A branch that says the first turns of a history. */
interface Branch {
  readonly matched: number;
  /** The last message of what matched; absent when nothing did. */
  readonly at?: string;
  readonly path: readonly Message[];
}

/** The branch that says most of a history; nothing in a conversation that no program began. */
async function bestPlace(watched: Watched, wanted: readonly Turn[]): Promise<Branch | undefined> {
  const { state } = watched;
  if (state.labels[PROGRAM] === undefined) return undefined;
  await watched.read([...state.messages.keys()]);
  let best: Branch | undefined;
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

function placed(
  state: ConversationState,
  place: Branch | undefined,
  history: readonly OpenAiTurn[],
  turns: number,
): HistoryPlace {
  const { matched = 0, at, path = [] } = place ?? {};
  const root = path.find(isPersons)?.id;
  const where = at !== undefined ? { at } : root !== undefined ? { beside: root } : {};
  const known =
    at === undefined
      ? ""
      : path
          .slice(0, path.findIndex(({ id }) => id === at) + 1)
          .map(toldIn)
          .join("\n");
  // A program may send another system message with each request; what the branch has of it is not told again.
  const told = history.filter(({ role, content }) => isSystem(role) && !known.includes(textOf(content)));
  const rest =
    matched === turns ? [] : history.filter(({ role }) => !isSystem(role)).slice(firstUnmatched(history, matched));
  return { conversation: state.id, ...where, told: [...told, ...rest] };
}

const isSystem = (role: string) => role === "system" || role === "developer";

/** The index of the message, system messages apart, with which the turn behind so many turns begins. */
function firstUnmatched(history: readonly OpenAiTurn[], turns: number): number {
  const said = history.filter(({ role }) => !isSystem(role));
  const begins = said.flatMap(({ role }, index) => (role === "user" ? [index] : []));
  return begins[turns] ?? said.length;
}

/** The last turns of a branch as its program would quote them, each with its message and its answer. */
export function lastExchanges(path: readonly Message[], count: number): readonly Turn[] {
  return turnsOfPath(path)
    .slice(-count)
    .filter(({ answer }) => answer !== "");
}

/** A history as turns. What calls and results of the program's own tools say is no text of it. */
function turnsOfHistory(history: readonly OpenAiTurn[], redact: (text: string) => string): readonly Turn[] {
  const turns: { said: string; answer: string }[] = [];
  for (const { role, content } of history) {
    if (isSystem(role)) continue;
    const text = wordsIn(content);
    if (role === "user") turns.push({ said: comparable(redact(text)), answer: "" });
    else if (text !== "") {
      const turn = turns.at(-1) ?? { said: "", answer: "" };
      if (turns.length === 0) turns.push(turn);
      turn.answer = comparable(`${turn.answer} ${text}`);
    }
  }
  return turns;
}

/** A path as turns. */
function turnsOfPath(path: readonly Message[]) {
  const turns: { said: string; answer: string; last: string; isCut: boolean }[] = [];
  for (const each of path) {
    if (isPersons(each)) {
      const texts = each.parts.flatMap((part) =>
        part.type === "text" && !part.text.startsWith(TOLD_BEFORE) ? [part.text] : [],
      );
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
 * Returns whether a turn of a branch says what a program has. A program may have the beginning of an answer that was cut, or the end
 * of one that began twice. What a program adds to a message before it sends it, and a command that the server filled in, are
 * in the branch alone: there the message has more than the program has, or begins with a slash.
 */
function isSaid(turn: ReturnType<typeof turnsOfPath>[number] | undefined, wanted: Turn | undefined): boolean {
  if (!turn || !wanted) return false;
  const isAnswer =
    turn.answer === wanted.answer ||
    (turn.answer !== "" && wanted.answer.endsWith(` ${turn.answer}`)) ||
    (turn.isCut && (turn.answer.startsWith(wanted.answer) || wanted.answer.startsWith(turn.answer)));
  const isMessage =
    turn.said === wanted.said || wanted.said.startsWith("/") || (wanted.said !== "" && turn.said.includes(wanted.said));
  return isAnswer && isMessage;
}

/** The texts of a content, without its pictures: programs send pictures again in another form, or leave them out. */
function wordsIn(content: OpenAiTurn["content"]): string {
  if (typeof content === "string") return content;
  return content.flatMap((piece) => ("text" in piece ? [piece.text] : [])).join("\n");
}

/** The history that a program tells, as it stands in a message of a branch. */
function toldIn(message: Message): string {
  if (!isPersons(message)) return "";
  return message.parts
    .flatMap((part) => (part.type === "text" && part.text.startsWith(TOLD_BEFORE) ? [part.text] : []))
    .join("\n");
}

/** A text as it is compared: programs change white space and Unicode forms, and put reasoning into the answers that they keep. */
export function comparable(text: string): string {
  return text
    .replace(/<details type="reasoning"[\s\S]*?<\/details>|^\s*<think>[\s\S]*?<\/think>/g, " ")
    .normalize("NFC")
    .replace(/\s+/g, " ")
    .trim();
}
