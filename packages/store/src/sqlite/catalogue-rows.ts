import type { ConversationSummary } from "@banyan/core/stores";
import { discardCatalogue, readableCatalogue, writableCatalogue } from "./catalogue-file.ts";
import { inSqliteTransaction } from "./database.ts";
import { sqliteStoreError } from "./error.ts";
import { conversationFileName } from "./file-name.ts";
import type { Slices } from "./slices.ts";

/** A conversation's file in the catalogue. */
export interface CatalogueEntry {
  /** The summary. `undefined`: the file has no events yet. */
  readonly summary: ConversationSummary | undefined;
  /** Time and size of the file and its write-ahead log, read before the summary. Empty: the file must be read again. */
  readonly stamp: string;
}

/** Rows that are read or written at once. */
const ROWS = 256;

/** Loads the entries of `catalogue.sqlite` by file name. A missing or damaged catalogue has none. */
export async function loadEntries(file: string, slices: Slices): Promise<ReadonlyMap<string, CatalogueEntry>> {
  const entries = new Map<string, CatalogueEntry>();
  try {
    using database = readableCatalogue(file);
    const select = database?.prepare(`SELECT * FROM conversations WHERE id > ? ORDER BY id LIMIT ${ROWS}`);
    for (let after = ""; select; ) {
      const rows: readonly Record<string, unknown>[] = select.all(after);
      for (const row of rows) {
        const summary = {
          id: String(row.id),
          title: String(row.title),
          labels: JSON.parse(String(row.labels)),
          createdAt: Number(row.created),
          updatedAt: Number(row.updated),
          ...(row.questions !== "[]" && { questions: JSON.parse(String(row.questions)) }),
        };
        entries.set(conversationFileName(summary.id), { summary, stamp: String(row.stamp) });
        after = summary.id;
      }
      if (rows.length < ROWS) break;
      // A statement that is not running holds no lock.
      if (slices.isOver) await slices.next();
    }
    return entries;
  } catch (error) {
    if (error instanceof SyntaxError || sqliteStoreError(error, file).code === "damaged") discardCatalogue(file);
    return new Map();
  }
}

/** Writes changed entries, by conversation, and removes them from `unsaved`. `undefined` deletes an entry's row. */
export async function saveEntries(
  file: string,
  unsaved: Map<string, CatalogueEntry | undefined>,
  slices: Slices,
): Promise<void> {
  if (unsaved.size === 0) return;
  try {
    // Another process may write a long time, and waiting would block this process.
    using database = writableCatalogue(file, { timeout: 0 });
    const put = database.prepare("INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?, ?, ?, ?)");
    const remove = database.prepare("DELETE FROM conversations WHERE id = ?");
    while (unsaved.size > 0) {
      const rows = Array.from(unsaved).slice(0, ROWS);
      inSqliteTransaction(database, () => {
        for (const [id, entry] of rows) {
          if (!entry?.summary) {
            remove.run(id);
            continue;
          }
          const { title, labels, createdAt, updatedAt, questions = [] } = entry.summary;
          put.run(id, title, JSON.stringify(labels), createdAt, updatedAt, JSON.stringify(questions), entry.stamp);
        }
      });
      for (const [id, entry] of rows) if (unsaved.get(id) === entry) unsaved.delete(id);
      if (slices.isOver) await slices.next();
    }
  } catch {
    // The next scan tries again, and the next process takes longer.
  }
}
