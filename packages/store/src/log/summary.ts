import type { Event } from "@banyan/core";
import { readableEvent } from "@banyan/core/conversation";
import { cutTo } from "@banyan/core/shown";
import { type ConversationSummary, type OpenQuestion, type SearchOptions, survivesProcess } from "@banyan/core/stores";

/** A conversation's summary for lists, updated event by event. */
export type Summary = { -readonly [K in keyof ConversationSummary]: ConversationSummary[K] };

const TITLE_LENGTH = 80;

export function emptySummary(id: string): Summary {
  return { id, title: "", labels: {}, createdAt: 0, updatedAt: 0 };
}

/** Updates a summary with an event. Only the first and last event, user messages and changed titles have an effect. */
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

/** SQL condition for events that may close a question. A new question of a call closes the call's earlier question. */
export const CLOSES =
  "type IN ('call.approval-resolved', 'question.answered', 'run.continued', 'call.completed', 'call.failed', 'call.denied', 'call.cancelled', 'run.started', 'run.ended')";

/** Returns the questions that keep waiting after their process has ended. */
export function questionsIn(open: ReadonlyMap<string, OpenQuestion>): Pick<ConversationSummary, "questions"> {
  const waiting = [...open.values()].filter(survivesProcess).map(({ id }) => id);
  return waiting.length === 0 ? {} : { questions: waiting };
}

/** Sorts conversations by last write, newest first. Returns at most `limit` conversations. */
export function newestFirst<T extends ConversationSummary>(summaries: readonly T[], limit = Infinity): T[] {
  return summaries.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1)).slice(0, Math.max(0, limit));
}

export function hasLabels(summary: ConversationSummary, labels: Readonly<Record<string, string>> = {}): boolean {
  return Object.entries(labels).every(([name, value]) => summary.labels[name] === value);
}

/** Returns whether a search with these options includes the conversation. */
export function isInSearch(
  summary: ConversationSummary,
  { labels, conversation = summary.id }: SearchOptions,
): boolean {
  return summary.id === conversation && hasLabels(summary, labels);
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
