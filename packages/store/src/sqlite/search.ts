import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { ConversationSummary, SearchHit, SearchOptions } from "@banyan/core/stores";
import { eventOf } from "../log/row.ts";
import { isInSearch } from "../log/summary.ts";
import { excerptOf } from "../search/excerpt.ts";
import { LIMIT } from "../search/search-logs.ts";
import { searchableEvents } from "../search/searchable-event.ts";
import { queryWords, spaceIndexText } from "../search/words.ts";
import { type CatalogueEntry, readCatalogue } from "./catalogue.ts";
import { catalogueIn, discardCatalogue, passingCatalogue, writableCatalogue } from "./catalogue-file.ts";
import { inSqliteTransaction, prepareForArrays, readBesideWriter } from "./database.ts";
import { sqliteStoreError } from "./error.ts";
import { conversationFile } from "./file-name.ts";
import { indexConversation, indexedStamps, unindexConversation } from "./search-index.ts";

/** Updates the index and finds messages. */
export async function searchConversations(
  directory: string,
  query: string,
  options: SearchOptions,
): Promise<SearchHit[]> {
  const words = queryWords(query);
  if (words.length === 0) return [];
  const entries = await readCatalogue(directory);
  if (entries.length === 0) return [];
  const search: ConversationSearch = { directory, words, options, entries };
  const file = catalogueIn(directory);
  try {
    using catalogue = writableCatalogue(file);
    return await searchIn(catalogue, search);
  } catch (error) {
    // With a full disk or a read-only directory, use an index in memory.
    if (sqliteStoreError(error, file).code === "damaged") discardCatalogue(file);
    using catalogue = passingCatalogue();
    return await searchIn(catalogue, search);
  }
}

interface ConversationSearch {
  readonly directory: string;
  readonly words: readonly string[];
  readonly options: SearchOptions;
  readonly entries: readonly CatalogueEntry[];
}

async function searchIn(
  catalogue: DatabaseSync,
  { directory, words, options, entries }: ConversationSearch,
): Promise<SearchHit[]> {
  const pathOf = (id: string) => conversationFile(directory, id);
  await refresh(catalogue, entries, pathOf);
  const summaries = new Map(entries.map(({ summary }) => [summary.id, summary]));
  const hits: SearchHit[] = [];
  const limit = options.limit ?? LIMIT;
  if (limit <= 0) return hits;
  const isHidden = removedMessages(catalogue);
  for (const { conversation, number, message, seq } of catalogue.prepare(FOUND).iterate(matching(words))) {
    const summary = summaries.get(String(conversation));
    if (!summary || !isInSearch(summary, options) || isHidden(Number(number), String(message))) continue;
    const hit = hitAt(pathOf(summary.id), Number(seq), summary, words);
    if (hit && hits.push(hit) >= limit) break;
  }
  return hits;
}

const FOUND = `
  SELECT indexed.conversation, indexed.number, message, messages.seq
  FROM texts JOIN messages ON messages.number = texts.rowid JOIN indexed ON indexed.number = messages.conversation
  WHERE texts MATCH ? ORDER BY at DESC, message DESC`;

/** Words contain only letters and digits, so in quotation marks they are no operators. */
function matching(words: readonly string[]): string {
  return `${words.map((word) => `"${spaceIndexText(word)}"`).join(" ")}*`;
}

async function refresh(
  catalogue: DatabaseSync,
  entries: readonly CatalogueEntry[],
  pathOf: (id: string) => string,
): Promise<void> {
  const stamps = indexedStamps(catalogue);
  for (const { summary, stamp } of entries) {
    const known = stamps.get(summary.id);
    stamps.delete(summary.id);
    if (known === stamp) continue;
    await indexConversation(catalogue, summary.id, pathOf(summary.id), stamp);
    await setImmediate();
  }
  const gone = Array.from(stamps.keys());
  if (gone.length > 0)
    inSqliteTransaction(catalogue, () => {
      for (const id of gone) unindexConversation(catalogue, id);
    });
}

/** The returned function tells whether a message or one of its ancestors was removed. */
function removedMessages(catalogue: DatabaseSync): (conversation: number, message: string) => boolean {
  const any = catalogue.prepare("SELECT 1 FROM messages WHERE conversation = ? AND removed LIMIT 1");
  const above = catalogue.prepare(`
    WITH RECURSIVE above (message, parent, removed) AS (
      SELECT message, parent, removed FROM messages WHERE conversation = ?1 AND message = ?2
      UNION
      SELECT messages.message, messages.parent, messages.removed
      FROM above JOIN messages ON messages.conversation = ?1 AND messages.message = above.parent
    )
    SELECT 1 FROM above WHERE removed LIMIT 1`);
  return (conversation, message) => {
    return any.get(conversation) !== undefined && above.get(conversation, message) !== undefined;
  };
}

/** Reads a found text from its file, because the index keeps no texts. Undefined for an unreadable file. */
function hitAt(
  path: string,
  seq: number,
  { id, title }: ConversationSummary,
  words: readonly string[],
): SearchHit | undefined {
  try {
    const select = "SELECT seq, epoch, at, type, body, crc FROM events WHERE seq = ?";
    const row = readBesideWriter(path, (file) => prepareForArrays(file, select).get(seq));
    const event = row && eventOf(row as unknown as readonly unknown[]);
    const said = event && searchableEvents(event).find((one) => one.type === "text");
    if (!said) return;
    const { message, role, text } = said;
    return { conversation: id, title, message, role, at: event.at, ...excerptOf(text, words) };
  } catch {
    return;
  }
}

/** Removes a conversation from the catalogue and the index. */
export function forgetInCatalogue(directory: string, conversation: string): void {
  const file = catalogueIn(directory);
  try {
    using catalogue = writableCatalogue(file);
    inSqliteTransaction(catalogue, () => {
      catalogue.prepare("DELETE FROM conversations WHERE id = ?").run(conversation);
      unindexConversation(catalogue, conversation);
      // The index only marks deleted words until its segments are merged.
      catalogue.exec("INSERT INTO texts (texts) VALUES ('optimize')");
    });
  } catch {
    discardCatalogue(file);
  }
}
