import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { ConversationSummary } from "@banyan/core";
import { summaryOf } from "./conversation-summary.ts";
import { createFile, openDatabase, transaction } from "./database.ts";
import { storeError } from "./error.ts";

const VERSION = 1;

const SCHEMA = `
  CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    labels TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    stamp TEXT NOT NULL
  ) STRICT;
  PRAGMA user_version = ${VERSION};
`;

/** What the catalogue knows of a conversation, and the stamp that its file had then. */
interface Entry {
  readonly summary: ConversationSummary;
  readonly stamp: string;
}

/**
 * The conversations that have events, in no order.
 *
 * The catalogue is a cache of the files and nothing else: a list compares each file's stamp with the one in the
 * catalogue and reads the files that differ. So appends have no second file to keep in step, a crash leaves nothing
 * stale, and whatever happens to the catalogue costs time only. A file that cannot be read keeps what the catalogue
 * knew of it, and is listed as unreadable when that is nothing.
 */
export async function readCatalogue(directory: string): Promise<ConversationSummary[]> {
  const file = join(directory, "catalogue.sqlite");
  const stamps = stampsIn(join(directory, "conversations"));
  if (stamps.size === 0) return [];
  const known = await load(file);
  const current = new Map<string, Entry>();
  const changed: Entry[] = [];
  for (const [id, stamp] of stamps) {
    const entry = known.get(id);
    if (entry?.stamp === stamp) {
      current.set(id, entry);
      continue;
    }
    const read = await summaryOf(join(directory, "conversations", `${id}.sqlite`), id);
    if (read === "empty") continue;
    if (read !== "unreadable") changed.push({ summary: read, stamp });
    const summary = read === "unreadable" ? (entry?.summary ?? unreadable(id, stamp)) : read;
    current.set(id, { summary, stamp });
    // A rebuild of many thousands must not hold up what else this process does.
    if (changed.length % 32 === 0) await setImmediate();
  }
  const gone = Array.from(known.keys()).filter((id) => !stamps.has(id));
  if (changed.length > 0 || gone.length > 0) await save(file, changed, gone);
  return Array.from(current.values(), ({ summary }) => summary);
}

/** For each conversation's file what changes whenever it is written to: time and size of it and of its write-ahead log. */
function stampsIn(directory: string): Map<string, string> {
  const stamps = new Map<string, string>();
  try {
    for (const name of readdirSync(directory)) {
      const id = /^([0-9a-z]{10,40})\.sqlite$/.exec(name)?.[1];
      if (id === undefined) continue;
      const file = stampOf(join(directory, name));
      if (file !== "") stamps.set(id, `${file} ${stampOf(join(directory, `${name}-wal`))}`);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw storeError(error, directory);
  }
  return stamps;
}

function stampOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat?.isFile() ? `${stat.mtimeNs}:${stat.size}` : "";
}

function unreadable(id: string, stamp: string): ConversationSummary {
  const written = Math.floor(Number.parseInt(stamp, 10) / 1e6);
  return { id, title: "(unreadable)", labels: {}, createdAt: written, updatedAt: written };
}

async function load(file: string): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  if (!statSync(file, { throwIfNoEntry: false })) return entries;
  try {
    using database = await openDatabase(file, { readOnly: true });
    if (versionOf(database) !== VERSION) return entries;
    for (const row of database.prepare("SELECT * FROM conversations").all()) {
      const summary = {
        id: String(row.id),
        title: String(row.title),
        labels: JSON.parse(String(row.labels)),
        createdAt: Number(row.created),
        updatedAt: Number(row.updated),
      };
      entries.set(summary.id, { summary, stamp: String(row.stamp) });
    }
    return entries;
  } catch (error) {
    // The files know everything: a damaged catalogue is made anew, one that is locked now is left as it is.
    if (error instanceof SyntaxError || storeError(error, file).code === "damaged") discard(file);
    return new Map();
  }
}

function discard(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // It stays as it is, and the files are read each time.
  }
}

async function save(file: string, changed: readonly Entry[], gone: readonly string[]): Promise<void> {
  try {
    await write(file, changed, gone);
  } catch {
    // The list is right without a catalogue; on a full disk, say, the next one only takes longer.
  }
}

async function write(file: string, changed: readonly Entry[], gone: readonly string[]): Promise<void> {
  createFile(file);
  using database = await openDatabase(file, { readOnly: false });
  // Nothing here is worth a flush.
  database.exec("PRAGMA synchronous = OFF");
  transaction(database, () => {
    if (versionOf(database) !== VERSION) database.exec(`DROP TABLE IF EXISTS conversations; ${SCHEMA}`);
    const put = database.prepare("INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?, ?, ?)");
    for (const { summary, stamp } of changed) {
      const { id, title, labels, createdAt, updatedAt } = summary;
      put.run(id, title, JSON.stringify(labels), createdAt, updatedAt, stamp);
    }
    const remove = database.prepare("DELETE FROM conversations WHERE id = ?");
    for (const id of gone) remove.run(id);
  });
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}
