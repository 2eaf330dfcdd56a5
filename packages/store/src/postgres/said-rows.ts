import type { Event } from "@banyan/core";
import { lexemesOf } from "../search/lexemes.ts";
import { SAYING, saidIn } from "../search/said.ts";

/** The bytes of different words up to which a message is indexed; one with more is looked into by each search. */
const WORDS = 256 * 1024;

/** What events change in the row of a message; what they leave as it is, is null. */
export interface SaidRow {
  readonly message: string;
  parent: string | null;
  seq: number | null;
  at: number | null;
  removed: boolean | null;
  /** Separated by spaces; null for none, and for too many. */
  words: string | null;
}

/** What events say about messages, a row for each. */
export function saidRows(events: readonly Event[]): SaidRow[] {
  const rows = new Map<string, SaidRow>();
  for (const event of events) {
    if (!SAYING.includes(event.type)) continue;
    for (const said of saidIn(event)) {
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

/** What is no UTF-8 or has a NUL cannot be kept as text. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}
