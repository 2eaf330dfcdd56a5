import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { ConversationSummary } from "@banyan/core/stores";
import { catalogueIn, discardCatalogue, readableCatalogue, writableCatalogue } from "./catalogue-file.ts";
import { readFileSummary } from "./conversation-summary.ts";
import { inSqliteTransaction } from "./database.ts";
import { sqliteStoreError } from "./error.ts";
import { conversationFileName, idIn } from "./file-name.ts";

/** A conversation's summary, and the stamp of its file when the summary was read. */
export interface CatalogueEntry {
  readonly summary: ConversationSummary;
  readonly stamp: string;
}

/**
 * Returns the conversations with events, unsorted. The catalogue is a cache: if a file's stamp differs from the
 * catalogue's, the file is read. So appends need no second file, and a crash leaves no stale entry. An unreadable file
 * without a catalogue entry is listed as unreadable.
 */
export async function readCatalogue(directory: string): Promise<CatalogueEntry[]> {
  const file = catalogueIn(directory);
  const stamps = catalogueStamps(join(directory, "conversations"));
  if (stamps.size === 0) return [];
  const known = load(file);
  const current = new Map<string, CatalogueEntry>();
  const changed: CatalogueEntry[] = [];
  for (const [name, { id, stamp }] of stamps) {
    const entry = known.get(name);
    if (entry?.stamp === stamp) {
      current.set(name, entry);
      continue;
    }
    const read = readFileSummary(join(directory, "conversations", `${name}.sqlite`), id);
    if (read === "empty") continue;
    const isReadable = read !== "unreadable" && conversationFileName(read.id) === name;
    if (isReadable) changed.push({ summary: read, stamp });
    const summary = isReadable
      ? read
      : (entry?.summary ?? (id === undefined ? undefined : unreadableSummary(id, stamp)));
    // Such a file's id is only in its log, and without the id the conversation cannot be opened.
    if (!summary) continue;
    current.set(name, { summary, stamp });
    // Let other work of this process run between.
    if (changed.length % 32 === 0) await setImmediate();
  }
  const gone = Array.from(known)
    .filter(([name]) => !stamps.has(name))
    .map(([, { summary }]) => summary.id);
  if (changed.length > 0 || gone.length > 0) save(file, changed, gone);
  return Array.from(current.values());
}

/** `stamp` changes with each write. The id may be missing in the file's name. */
interface StampedFile {
  readonly id: string | undefined;
  readonly stamp: string;
}

function catalogueStamps(directory: string): Map<string, StampedFile> {
  const stamps = new Map<string, StampedFile>();
  try {
    for (const name of readdirSync(directory)) {
      const own = /^(.+)\.sqlite$/.exec(name)?.[1];
      const known = own === undefined ? undefined : idIn(own);
      if (own === undefined || !known) continue;
      const file = catalogueStamp(join(directory, name));
      const stamp = `${file} ${catalogueStamp(join(directory, `${name}-wal`))}`;
      if (file !== "") stamps.set(own, { ...known, stamp });
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw sqliteStoreError(error, directory);
  }
  return stamps;
}

function catalogueStamp(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat?.isFile() ? `${stat.mtimeNs}:${stat.size}` : "";
}

function unreadableSummary(id: string, stamp: string): ConversationSummary {
  const written = Math.floor(Number.parseInt(stamp, 10) / 1e6);
  return { id, title: "(unreadable)", labels: {}, createdAt: written, updatedAt: written };
}

function load(file: string): Map<string, CatalogueEntry> {
  const entries = new Map<string, CatalogueEntry>();
  try {
    using database = readableCatalogue(file);
    for (const row of database?.prepare("SELECT * FROM conversations").all() ?? []) {
      const summary = {
        id: String(row.id),
        title: String(row.title),
        labels: JSON.parse(String(row.labels)),
        createdAt: Number(row.created),
        updatedAt: Number(row.updated),
        ...(row.questions !== "[]" && { questions: JSON.parse(String(row.questions)) }),
      };
      entries.set(conversationFileName(summary.id), { summary, stamp: String(row.stamp) });
    }
    return entries;
  } catch (error) {
    if (error instanceof SyntaxError || sqliteStoreError(error, file).code === "damaged") discardCatalogue(file);
    return new Map();
  }
}

function save(file: string, changed: readonly CatalogueEntry[], gone: readonly string[]): void {
  try {
    using database = writableCatalogue(file);
    inSqliteTransaction(database, () => {
      const put = database.prepare("INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?, ?, ?, ?)");
      for (const { summary, stamp } of changed) {
        const { id, title, labels, createdAt, updatedAt, questions = [] } = summary;
        put.run(id, title, JSON.stringify(labels), createdAt, updatedAt, JSON.stringify(questions), stamp);
      }
      const remove = database.prepare("DELETE FROM conversations WHERE id = ?");
      for (const id of gone) remove.run(id);
    });
  } catch {
    // The next list only takes longer.
  }
}
