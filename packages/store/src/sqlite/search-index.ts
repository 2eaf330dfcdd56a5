import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { eventOf } from "../log/row.ts";
import { SAYING, type SearchableEvent, searchableEvents } from "../search/searchable-event.ts";
import { spaceIndexText } from "../search/words.ts";
import { inSqliteTransaction, prepareForArrays, readBesideWriter } from "./database.ts";

/** The largest batch, in events and in characters. Batches are small, because reading blocks other work. */
const BATCH = 500;
const CHARACTERS = 4 * 1024 * 1024;

/** The position up to which a file was read. */
interface IndexedUpTo {
  readonly seq: number;
  readonly crc: number;
}

const BEGINNING: IndexedUpTo = { seq: 0, crc: 0 };

interface Addition {
  readonly events: readonly { readonly seq: number; readonly at: number; readonly said: readonly SearchableEvent[] }[];
  readonly to: IndexedUpTo;
  readonly done: boolean;
  /**
   * True if the file was replaced, for example by an older backup. The indexing then starts again at the first event.
   */
  readonly anew: boolean;
}

/** Returns the stamps of files at their last indexing, by conversation. */
export function indexedStamps(catalogue: DatabaseSync): Map<string, string> {
  const rows = catalogue.prepare("SELECT conversation, stamp FROM indexed").all();
  return new Map(rows.map(({ conversation, stamp }) => [String(conversation), String(stamp)]));
}

/** Adds new events of a conversation's file to the index; an unreadable file adds none. May run concurrently. */
export async function indexConversation(
  catalogue: DatabaseSync,
  conversation: string,
  path: string,
  stamp: string,
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const before = indexedUpTo(catalogue, conversation);
    const addition = readFrom(path, before);
    if (!addition) return;
    inSqliteTransaction(catalogue, () => {
      const now = indexedUpTo(catalogue, conversation);
      if (now.seq === before.seq && now.crc === before.crc) add(catalogue, conversation, addition, stamp);
    });
    if (addition.done) return;
    await setImmediate();
  }
}

function indexedUpTo(catalogue: DatabaseSync, conversation: string): IndexedUpTo {
  const known = catalogue.prepare("SELECT seq, crc FROM indexed WHERE conversation = ?").get(conversation);
  return known ? { seq: Number(known.seq), crc: Number(known.crc) } : BEGINNING;
}

function readFrom(path: string, before: IndexedUpTo): Addition | undefined {
  try {
    return readBesideWriter(path, (file) => additionIn(file, before));
  } catch {
    return;
  }
}

function additionIn(file: DatabaseSync, before: IndexedUpTo): Addition {
  const at = (seq: number) => file.prepare("SELECT crc FROM events WHERE seq = ?").get(seq)?.crc;
  const anew = before.seq > 0 && at(before.seq) !== before.crc;
  const types = SAYING.map((type) => `'${type}'`).join();
  const select = prepareForArrays(
    file,
    `SELECT seq, epoch, at, type, body, crc FROM events
    WHERE seq > ? AND (type IN (${types}) OR seq = (SELECT max(seq) FROM events)) ORDER BY seq LIMIT ${BATCH}`,
  );
  const rows: (readonly unknown[])[] = [];
  let characters = 0;
  for (const row of select.iterate(anew ? 0 : before.seq) as Iterable<unknown>) {
    const values = row as readonly unknown[];
    characters += String(values[4]).length;
    rows.push(values);
    if (characters > CHARACTERS) break;
  }
  const events = rows.flatMap((row) => {
    const event = eventOf(row);
    return event ? [{ seq: event.seq, at: event.at, said: searchableEvents(event) }] : [];
  });
  const last = rows.at(-1);
  const to = last ? { seq: Number(last[0]), crc: Number(last[5]) } : anew ? BEGINNING : before;
  return { events, to, done: rows.length < BATCH && characters <= CHARACTERS, anew };
}

function add(catalogue: DatabaseSync, conversation: string, { events, to, done, anew }: Addition, stamp: string): void {
  if (anew) unindexConversation(catalogue, conversation);
  const { number } =
    catalogue
      .prepare(
        `INSERT INTO indexed VALUES (NULL, ?, ?, ?, ?)
        ON CONFLICT (conversation) DO UPDATE SET stamp = excluded.stamp, seq = excluded.seq, crc = excluded.crc
        RETURNING number`,
      )
      .get(conversation, done ? stamp : "", to.seq, to.crc) ?? {};
  const insert = catalogue.prepare("INSERT OR IGNORE INTO messages VALUES (NULL, ?, ?, ?, 0, 0, 0)");
  const place = catalogue.prepare(
    "UPDATE messages SET seq = ?, at = ? WHERE conversation = ? AND message = ? RETURNING number",
  );
  const put = catalogue.prepare("INSERT OR REPLACE INTO texts (rowid, text) VALUES (?, ?)");
  const remove = catalogue.prepare("UPDATE messages SET removed = ? WHERE conversation = ? AND message = ?");
  const here = Number(number);
  for (const { seq, at, said } of events) {
    for (const one of said) {
      switch (one.type) {
        case "message":
          insert.run(here, one.message, one.parentId);
          break;
        case "text": {
          const row = place.get(seq, at, here, one.message);
          if (row) put.run(Number(row.number), spaceIndexText(one.text));
          break;
        }
        case "removed":
          remove.run(one.removed ? 1 : 0, here, one.message);
          break;
      }
    }
  }
}

/** Removes a conversation from the index. Call inside a transaction. */
export function unindexConversation(catalogue: DatabaseSync, conversation: string): void {
  const known = catalogue.prepare("SELECT number FROM indexed WHERE conversation = ?").get(conversation);
  if (!known) return;
  const number = Number(known.number);
  catalogue
    .prepare("DELETE FROM texts WHERE rowid IN (SELECT number FROM messages WHERE conversation = ?)")
    .run(number);
  catalogue.prepare("DELETE FROM messages WHERE conversation = ?").run(number);
  catalogue.prepare("DELETE FROM indexed WHERE number = ?").run(number);
}
