import { realpathSync } from "node:fs";
import { StoreError } from "@banyan/core";
import { formatCount, visibleLine } from "@banyan/core/shown";
import type { ConversationSummary } from "@banyan/core/stores";
import { type ConversationDirectory, wasUnattended } from "@banyan/host";
import { excerpt } from "../show/fit-text.ts";
import { oneLine } from "../show/plain-text.ts";
import { formatTime, table } from "../show/table.ts";
import type { ConversationsArguments } from "../subcommands.ts";

type ListArguments = Extract<ConversationsArguments, { action: "list" }>;

/** How many are listed when nobody says. */
const LISTED = 20;
const TITLE_WIDTH = 48;

/** A conversation in the list. */
interface Listed extends ConversationSummary {
  /** Without those that were removed; `null` when they cannot be counted. */
  readonly messages: number | null;
  /** `interrupted`: a run did not end. `open`: somebody writes to it now. */
  readonly status: "quiet" | "interrupted" | "open" | "unreadable";
}

/** Lists conversations. One that cannot be read is listed as such and hides no other (B60). */
export async function list(
  directory: ConversationDirectory,
  { all, limit = LISTED, output }: ListArguments,
  write: (text: string) => void,
): Promise<void> {
  const here = realpathSync(".");
  const summaries = await directory.list({ limit: limit + 1, ...(all ? {} : { labels: { cwd: here } }) });
  const listed: Listed[] = [];
  for (const summary of summaries.slice(0, limit))
    listed.push({ ...summary, ...(await stateOf(directory, summary.id)) });
  if (output === "json") return write(`${JSON.stringify(listed, null, 2)}\n`);
  if (listed.length === 0) {
    return write(
      all ? "There are no conversations yet.\n" : `There are none of ${here} yet. --all lists the others.\n`,
    );
  }
  const rows = listed.map(({ id, title, updatedAt, labels, messages, status }) => [
    visibleLine(id),
    formatTime(updatedAt),
    messages === null ? "—" : formatCount(messages),
    status === "quiet" ? (wasUnattended({ labels }) ? "unattended" : "") : status,
    excerpt(title, TITLE_WIDTH),
    ...(all ? [oneLine(labels.cwd ?? "")] : []),
  ]);
  const head = ["id", "last written", "messages", "", "title", ...(all ? ["directory"] : [])];
  for (const line of table([head, ...rows])) write(`${line}\n`);
  if (summaries.length > limit) write(`There are more; --limit ${limit * 2} lists twice as many.\n`);
}

async function stateOf(directory: ConversationDirectory, id: string): Promise<Pick<Listed, "messages" | "status">> {
  try {
    const { state, isOpen } = await directory.read(id);
    const messages = state.messages.values().filter(({ removed }) => !removed);
    const status = isOpen ? "open" : state.runs.size > 0 ? "interrupted" : "quiet";
    return { messages: [...messages].length, status };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { messages: null, status: error.code === "locked" ? "open" : "unreadable" };
  }
}
