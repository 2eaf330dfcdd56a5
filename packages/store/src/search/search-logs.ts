import type { Event } from "@banyan/core";
import { OptionError } from "@banyan/core/conversation";
import type { ConversationSummary, SearchHit, SearchOptions } from "@banyan/core/stores";
import { checkSearch } from "../log/refusal.ts";
import { isInSearch } from "../log/summary.ts";
import { excerptOf } from "./excerpt.ts";
import { searchableEvents, type Text } from "./searchable-event.ts";
import { holdsWords, queryWords } from "./words.ts";

/** Default maximum of search results. */
export const LIMIT = 20;

/** A conversation to search: its summary and its log. See {@link searchLogs}. */
export interface SearchedLog {
  readonly summary: ConversationSummary;
  readonly events: Iterable<Event>;
}

/**
 * Implements `Store.search` without an index, by reading every event. Returns at most 20 hits by default.
 * @example
 * const [summary] = await store.list();
 * if (summary) searchLogs([{ summary, events: [] }], "oak", { limit: 5 });
 */
export function searchLogs(logs: Iterable<SearchedLog>, query: string, options: SearchOptions = {}): SearchHit[] {
  if (typeof logs !== "object" || typeof logs?.[Symbol.iterator] !== "function") throw noLogs();
  checkSearch(query, options);
  options.signal?.throwIfAborted();
  const words = queryWords(query);
  if (words.length === 0) return [];
  const hits: SearchHit[] = [];
  for (const log of logs) {
    if (log?.summary === undefined) throw noLogs();
    if (isInSearch(log.summary, options)) hits.push(...hitsIn(log, words));
  }
  const { limit = LIMIT } = options;
  return hits.sort((a, b) => b.at - a.at || (a.message < b.message ? 1 : -1)).slice(0, Math.max(0, limit));
}

function noLogs(): OptionError {
  return new OptionError("logs of searchLogs must be a list of logs, each with a summary and events.");
}

function hitsIn({ summary, events }: SearchedLog, words: readonly string[]): SearchHit[] {
  const parents = new Map<string, string | null>();
  const removed = new Set<string>();
  const texts: (Text & { readonly at: number })[] = [];
  for (const event of events) {
    for (const said of searchableEvents(event)) {
      if (said.type === "message") parents.set(said.message, said.parentId);
      else if (said.type === "text") texts.push({ ...said, at: event.at });
      else if (said.removed) removed.add(said.message);
      else removed.delete(said.message);
    }
  }
  const isHidden = (message: string) => {
    if (removed.size === 0) return false;
    for (let at: string | null | undefined = message; at != null; at = parents.get(at))
      if (removed.has(at)) return true;
    return false;
  };
  const holds = holdsWords(words);
  const hits: SearchHit[] = [];
  for (const { message, role, text, at } of texts) {
    if (isHidden(message) || !holds(text)) continue;
    hits.push({ conversation: summary.id, title: summary.title, message, role, at, ...excerptOf(text, words) });
  }
  return hits;
}
