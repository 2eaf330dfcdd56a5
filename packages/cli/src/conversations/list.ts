import { realpathSync } from "node:fs";
import { type ConversationState, StoreError } from "@banyan/core";
import { callIn, type OpenQuestion } from "@banyan/core/conversation";
import { recoveredState } from "@banyan/core/hosts";
import { formatCount, visibleLine } from "@banyan/core/shown";
import type { ConversationSummary } from "@banyan/core/stores";
import { type ConversationDirectory, listForUsers, PROGRAM, wasUnattended } from "@banyan/host";
import { ownCommand } from "@banyan/host/own-command";
import { excerptLine } from "../show/fit-text.ts";
import { plainLine } from "../show/plain-text.ts";
import { formatTime, table } from "../show/table.ts";
import type { ConversationsArguments } from "./arguments.ts";

type ListArguments = Extract<ConversationsArguments, { action: "list" }>;

const LISTED = 20;
const TITLE_WIDTH = 48;

interface ConversationRow extends ConversationSummary {
  /** Number of messages that are not removed; `null` if they cannot be counted. */
  readonly messages: number | null;
  /** `interrupted`: a run did not end. `waiting`: a question is open. `open`: a process is writing the conversation. */
  readonly status: "quiet" | "waiting" | "interrupted" | "open" | "unreadable";
}

/** Lists conversations. Marks a conversation that cannot be read, and lists all others as usual (B60). */
export async function listConversations(
  directory: ConversationDirectory,
  { all, waiting, programs, limit = LISTED, output }: ListArguments,
  write: (text: string) => void,
): Promise<void> {
  const here = realpathSync(".");
  if (waiting) return listWaiting(directory, limit, output, write);
  const query = { limit: limit + 1, ...(all ? {} : { labels: { cwd: here } }) };
  const summaries = await (programs ? directory.list(query) : listForUsers(directory, query));
  const listed: ConversationRow[] = [];
  for (const summary of summaries.slice(0, limit))
    listed.push({ ...summary, ...(await listedState(directory, summary.id)) });
  if (output === "json") return write(`${JSON.stringify(listed, null, 2)}\n`);
  if (listed.length === 0) {
    return write(
      all
        ? "There are no conversations yet.\n"
        : `There are no conversations in ${here} yet. --all lists all conversations.\n`,
    );
  }
  const rows = listed.map(({ id, title, updatedAt, labels, messages, status }) => [
    visibleLine(id),
    formatTime(updatedAt),
    messages === null ? "—" : formatCount(messages),
    status === "quiet" ? quietly(labels) : status,
    excerptLine(title, TITLE_WIDTH),
    ...(all ? [plainLine(labels.cwd ?? "")] : []),
  ]);
  const head = ["id", "last written", "messages", "", "title", ...(all ? ["directory"] : [])];
  for (const line of table([head, ...rows])) write(`${line}\n`);
  if (summaries.length > limit) write(`There are more conversations. --limit ${limit * 2} lists twice as many.\n`);
}

async function listWaiting(
  directory: ConversationDirectory,
  limit: number,
  output: ListArguments["output"],
  write: (text: string) => void,
): Promise<void> {
  const waiting = await directory.list({ waiting: true, limit });
  const read = await Promise.all(waiting.map(({ id }) => directory.read(id)));
  const states = read.map(({ state, isOpen }) => (isOpen ? state : recoveredState(state)));
  if (output === "json") {
    const listed = waiting.map((summary, at) => ({
      ...summary,
      questions: [...(states[at]?.questions.values() ?? [])],
    }));
    return write(`${JSON.stringify(listed, null, 2)}\n`);
  }
  if (waiting.length === 0) return write("No conversation waits for you.\n");
  for (const [at, { id, title, labels }] of waiting.entries()) {
    write(`${visibleLine(id)}  ${excerptLine(title, TITLE_WIDTH)}  ${plainLine(labels.cwd ?? "")}\n`);
    const state = states[at];
    for (const question of state?.questions.values() ?? [])
      write(`  ${excerptLine(plainLine(whatIsAsked(state, question)), 100)}\n`);
  }
  write(`To answer, open a conversation: ${ownCommand("--resume ID")}\n`);
}

function whatIsAsked(state: ConversationState | undefined, question: OpenQuestion): string {
  if (question.type === "text") return question.text;
  if (question.type === "limit")
    return question.offers ? question.reason : `${question.reason} May the agent continue?`;
  const call = state && callIn(state, question);
  const what = call?.about?.command ?? call?.about?.title ?? call?.about?.paths?.[0]?.path ?? "";
  return `May the agent run ${call?.tool ?? "a tool"}${what === "" ? "" : ` ${what}`}?`;
}

function quietly(labels: ConversationSummary["labels"]): string {
  if (labels[PROGRAM] !== undefined) return "program";
  return wasUnattended({ labels }) ? "unattended" : "";
}

async function listedState(
  directory: ConversationDirectory,
  id: string,
): Promise<Pick<ConversationRow, "messages" | "status">> {
  try {
    const { state, isOpen } = await directory.read(id);
    const messages = state.messages.values().filter(({ removed }) => !removed);
    const isWaiting = () => recoveredState(state).questions.size > 0;
    const isLeft = state.runs.size > 0;
    const status = isOpen ? "open" : isWaiting() ? "waiting" : isLeft ? "interrupted" : "quiet";
    return { messages: [...messages].length, status };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { messages: null, status: error.code === "locked" ? "open" : "unreadable" };
  }
}
