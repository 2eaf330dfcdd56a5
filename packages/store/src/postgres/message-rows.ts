import type { Event } from "@banyan/core";
import { lexemesOf } from "../search/lexemes.ts";
import { SAYING, searchableEvents } from "../search/searchable-event.ts";

/** Maximum bytes of the distinct words in the index. Searches read the text of messages with more words. */
const WORDS = 256 * 1024;

/** The changes by events to a message's row in the table for searches. A null field stays unchanged. */
export interface SaidRow {
  readonly message: string;
  parent: string | null;
  seq: number | null;
  at: number | null;
  removed: boolean | null;
  /** Separated by spaces. Null for no words or too many. */
  words: string | null;
}

/** Returns the changes of message rows by events. */
export function saidRows(events: readonly Event[]): SaidRow[] {
  const rows = new Map<string, SaidRow>();
  for (const event of events) {
    if (!SAYING.includes(event.type)) continue;
    for (const said of searchableEvents(event)) {
      const message = storable(said.message);
      const row = rows.get(message) ?? { message, parent: null, seq: null, at: null, removed: null, words: null };
      rows.set(message, row);
      switch (said.type) {
        case "message":
          row.parent = said.parentId === null ? null : storable(said.parentId);
          break;
        case "text": {
          row.seq = event.seq;
          row.at = event.at;
          const words = Array.from(lexemesOf(said.text)).join(" ");
          row.words = Buffer.byteLength(words) > WORDS ? null : words;
          break;
        }
        case "removed":
          row.removed = said.removed;
          break;
      }
    }
  }
  return Array.from(rows.values());
}

/** Replaces lone surrogates and NUL, which PostgreSQL cannot store. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}
