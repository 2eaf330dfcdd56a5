import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { MemoryEntry } from "./managed-memory.ts";
import type { MemoryPiece } from "./pieces.ts";
import { spaceMemoryText } from "./words.ts";

/** Stores a text and its source. For a stored text, adds only the source. Returns the id. Call inside a transaction. */
export function keepEntry(
  database: DatabaseSync,
  piece: Omit<MemoryPiece, "conversation"> & { readonly conversation?: string },
): number {
  const { kind, text, conversation = "", directory = "", message, role, at } = piece;
  const digest = hash("sha256", text, "base64url");
  const id = entryId(database, kind, digest) ?? insert(database, kind, digest, text);
  database
    .prepare("INSERT OR REPLACE INTO sources VALUES (NULL, ?, ?, ?, ?, ?, ?)")
    .run(id, conversation, directory, message ?? null, role ?? null, at);
  return id;
}

function entryId(database: DatabaseSync, kind: string, digest: string): number | undefined {
  const row = database.prepare("SELECT id FROM entries WHERE digest = ? AND kind = ?").get(digest, kind);
  return row && Number(row.id);
}

function insert(database: DatabaseSync, kind: string, digest: string, text: string): number {
  const { lastInsertRowid } = database.prepare("INSERT INTO entries VALUES (NULL, ?, ?, ?)").run(kind, digest, text);
  database.prepare("INSERT INTO words (rowid, text) VALUES (?, ?)").run(lastInsertRowid, spaceMemoryText(text));
  return Number(lastInsertRowid);
}

/** Removes entries and their index. Returns the number of removed entries. Call inside a transaction. */
export function forgetEntries(database: DatabaseSync, ids: readonly number[]): number {
  const text = database.prepare("SELECT text FROM entries WHERE id = ?");
  const unindex = database.prepare("INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)");
  const remove = database.prepare("DELETE FROM entries WHERE id = ?");
  let count = 0;
  for (const id of ids) {
    const known = text.get(id);
    if (!known) continue;
    unindex.run(id, spaceMemoryText(String(known.text)));
    remove.run(id);
    count++;
  }
  return count;
}

/** Removes the entries whose only sources are in this conversation. Returns their number. Call inside a transaction. */
export function forgetConversationEntries(database: DatabaseSync, conversation: string): number {
  const from = database.prepare("SELECT entry FROM sources WHERE conversation = ?").all(conversation);
  database.prepare("DELETE FROM sources WHERE conversation = ?").run(conversation);
  const known = database.prepare("SELECT 1 FROM sources WHERE entry = ?");
  const ids = new Set(from.map(({ entry }) => Number(entry)));
  return forgetEntries(
    database,
    Array.from(ids).filter((id) => !known.get(id)),
  );
}

/** Removes all entries and returns their number. Conversations with memory off stay off. Call inside a transaction. */
export function forgetAll(database: DatabaseSync): number {
  database.exec("INSERT INTO words (words) VALUES ('delete-all')");
  return Number(database.prepare("DELETE FROM entries").run().changes);
}

/** Returns whether the user turned memory off for a conversation. */
export function isOff(database: DatabaseSync, conversation: string): boolean {
  return database.prepare("SELECT 1 FROM off WHERE conversation = ?").get(conversation) !== undefined;
}

export function switchOff(database: DatabaseSync, conversation: string): void {
  database.prepare("INSERT OR IGNORE INTO off VALUES (?)").run(conversation);
}

export function switchOn(database: DatabaseSync, conversation: string): void {
  database.prepare("DELETE FROM off WHERE conversation = ?").run(conversation);
}

/** CROSS makes SQLite begin with the entries, and find summaries by their index. */
const SOURCED = `
  SELECT entries.id, kind, text, conversation, directory, message, role, at
  FROM entries CROSS JOIN sources ON sources.entry = entries.id`;
const ON = "conversation NOT IN (SELECT conversation FROM off)";

/** Returns those entries of these ids that exist, in the same order, each with its newest source. */
export function readEntries(database: DatabaseSync, ids: readonly number[]): MemoryEntry[] {
  const select = database.prepare(`${SOURCED} WHERE entries.id = ? ORDER BY number DESC LIMIT 1`);
  return ids.flatMap((id) => entryFromRow(select.get(id)));
}

/**
 * Returns those entries of these ids that may be recalled, each with a source. A source in `directory` is preferred.
 */
export function readRecalled(database: DatabaseSync, ids: readonly number[], directory: string): MemoryEntry[] {
  const select = database.prepare(
    `${SOURCED} WHERE entries.id = ? AND ${ON} ORDER BY directory = ? DESC, number DESC LIMIT 1`,
  );
  return ids.flatMap((id) => entryFromRow(select.get(id, directory)));
}

/** Returns a page of entries, newest first: of one conversation or of all. */
export function entriesPage(
  database: DatabaseSync,
  {
    limit,
    after,
    conversation = null,
  }: { readonly limit: number; readonly after: number; readonly conversation?: string | null | undefined },
): MemoryEntry[] {
  const page = database
    .prepare(
      `SELECT id FROM entries WHERE id < :after AND (:conversation IS NULL
        OR EXISTS (SELECT 1 FROM sources WHERE entry = entries.id AND conversation = :conversation))
      ORDER BY id DESC LIMIT :limit`,
    )
    .all({ after, conversation, limit });
  return readEntries(
    database,
    page.map(({ id }) => Number(id)),
  );
}

/**
 * Returns the newest summaries of a directory. Uses the order of writing and not the time, because a clock can go
 * backwards.
 */
export function summariesOf(database: DatabaseSync, directory: string, limit: number): MemoryEntry[] {
  const newest = database.prepare(
    `${SOURCED} WHERE kind = 'summary' AND directory = ? AND ${ON} ORDER BY number DESC LIMIT ?`,
  );
  return newest.all(directory, limit).flatMap(entryFromRow);
}

function entryFromRow(row: Record<string, unknown> | undefined): MemoryEntry[] {
  if (!row) return [];
  const { id, kind, text, at, ...from } = row;
  const given = Object.fromEntries(Object.entries(from).filter(([, value]) => value !== null && value !== ""));
  const entry = { id: Number(id), kind: kind as MemoryEntry["kind"], text: String(text), at: Number(at), ...given };
  return [{ ...entry, source: entrySource(entry) }];
}

function entrySource({ kind, role, at, directory, conversation }: Omit<MemoryEntry, "source">): string {
  const what = kind === "said" ? (role === "assistant" ? "answer" : "user") : kind;
  const date = new Date(at).toLocaleDateString("sv-SE");
  return [what, date, directory, conversation && `conversation ${conversation}`].filter(Boolean).join(", ");
}
