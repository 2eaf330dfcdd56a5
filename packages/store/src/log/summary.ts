import type { Event } from "@banyan/core";
import { OptionError, readableEvent } from "@banyan/core/conversation";
import { cutTo } from "@banyan/core/shown";
import {
  type ConversationSummary,
  type ListQuery,
  noteQuestions,
  type OpenQuestion,
  type SearchOptions,
  survivesProcess,
} from "@banyan/core/stores";
import { checkListQuery } from "./refusal.ts";

/** A conversation's summary for lists, updated event by event. */
export type Summary = { -readonly [K in keyof ConversationSummary]: ConversationSummary[K] };

const TITLE_LENGTH = 80;

export function emptySummary(id: string): Summary {
  return { id, title: "", labels: {}, createdAt: 0, updatedAt: 0 };
}

/**
 * Updates a summary with an event. Only the first and the last event, user messages and changed titles change the
 * summary.
 */
export function addToSummary(summary: Summary, given: Event): void {
  const event = readableEvent(given);
  if (summary.createdAt === 0) summary.createdAt = event.at;
  summary.updatedAt = event.at;
  switch (event.type) {
    case "conversation.created":
      summary.labels = event.labels;
      summary.createdAt = event.at;
      break;
    case "message.added":
      if (summary.title === "" && event.role === "user" && (event.author ?? "user") === "user") {
        for (const part of event.parts) if (part.type === "text") summary.title ||= titleFrom(part.text);
      }
      break;
    case "title.changed":
      summary.title = event.title.toWellFormed();
      break;
  }
}

/** SQL condition for events with a question to the user. Avoids `IN`, for which SQLite makes a table per insert. */
export const ASKS = "(type = 'call.approval-requested' OR type = 'question.asked' OR type = 'run.paused')";

/** SQL condition for events that can close a question. A new question of a call closes the call's earlier question. */
export const CLOSES =
  "type IN ('call.approval-resolved', 'question.answered', 'run.continued', 'call.completed', 'call.failed', 'call.denied', 'call.cancelled', 'run.started', 'run.ended')";

/** Returns the questions that keep waiting after their process has ended. */
export function questionsIn(open: ReadonlyMap<string, OpenQuestion>): Pick<ConversationSummary, "questions"> {
  const waiting = [...open.values()].filter(survivesProcess).map(({ id }) => id);
  return waiting.length === 0 ? {} : { questions: waiting };
}

/** A conversation's summary with its open questions, which grows with the log. */
export class GrowingSummary {
  readonly #summary: Summary;
  readonly #questions: Map<string, OpenQuestion>;
  #listed: ConversationSummary | undefined;

  constructor(summary: Summary, questions = new Map<string, OpenQuestion>()) {
    this.#summary = summary;
    this.#questions = questions;
  }

  add(events: readonly Event[]): void {
    for (const event of events) {
      addToSummary(this.#summary, event);
      noteQuestions(this.#questions, event);
    }
    this.#listed = undefined;
  }

  /** The summary for lists: the same object until events are added. */
  get listed(): ConversationSummary {
    this.#listed ??= { ...this.#summary, ...questionsIn(this.#questions) };
    return this.#listed;
  }
}

/** Compares conversations for a list: the conversation with the newest message comes first. */
export function compareNewest(
  a: Pick<ConversationSummary, "id" | "updatedAt">,
  b: Pick<ConversationSummary, "id" | "updatedAt">,
): number {
  return b.updatedAt - a.updatedAt || (a.id === b.id ? 0 : a.id < b.id ? 1 : -1);
}

/**
 * Implements `Store.list` for a store that has all summaries: sorts them, and returns those that the query wants.
 * @example const newest = listPage(await store.list(), { limit: 20 });
 */
export function listPage<T extends ConversationSummary>(summaries: readonly T[], query: ListQuery = {}): T[] {
  if (!Array.isArray(summaries) || summaries.some((summary) => typeof summary?.id !== "string"))
    throw new OptionError("summaries of listPage must be a list of conversations.");
  checkListQuery(query, "listPage");
  return pageOf(summaries.toSorted(compareNewest), query);
}

/** Like `listPage`, for summaries in the order of a list. */
export function pageOf<T extends ConversationSummary>(ordered: Iterable<T>, query: ListQuery): T[] {
  const { after, conversations, limit = Number.POSITIVE_INFINITY, waiting } = query;
  const wanted = conversations && new Set(conversations);
  const page: T[] = [];
  for (const summary of ordered) {
    if (page.length >= limit) break;
    if (wanted?.has(summary.id) === false || !hasLabels(summary, query)) continue;
    if (waiting && summary.questions === undefined) continue;
    if (!after || compareNewest(after, summary) < 0) page.push(summary);
  }
  return page;
}

function hasLabels(
  { labels: has }: ConversationSummary,
  { labels = {}, without = [] }: Pick<ListQuery, "labels" | "without">,
): boolean {
  return (
    Object.entries(labels).every(([name, value]) => has[name] === value) &&
    !without.some((name) => has[name] !== undefined)
  );
}

/** Returns whether a search with these options includes the conversation. */
export function isInSearch(summary: ConversationSummary, options: SearchOptions): boolean {
  return summary.id === (options.conversation ?? summary.id) && hasLabels(summary, options);
}

function titleFrom(text: string): string {
  const line = text
    .slice(0, 20 * TITLE_LENGTH)
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const characters = Array.from(line);
  return characters.length <= TITLE_LENGTH ? line : cutTo(line, characters.slice(0, TITLE_LENGTH - 1).join("").length);
}
