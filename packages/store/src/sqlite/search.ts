import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { ConversationSummary, SearchHit, SearchOptions } from "@banyan/core/stores";
import { eventOf } from "../log/row.ts";
import { compareNewest, isInSearch } from "../log/summary.ts";
import { excerptOf } from "../search/excerpt.ts";
import { LIMIT } from "../search/search-logs.ts";
import { searchableEvents } from "../search/searchable-event.ts";
import { queryWords, spaceIndexText } from "../search/words.ts";
import type { Catalogue } from "./catalogue.ts";
import { catalogueIn, discardCatalogue, passingCatalogue, writableCatalogue } from "./catalogue-file.ts";
import { inSqliteTransaction, prepareForArrays, readBesideWriter } from "./database.ts";
import { sqliteStoreError } from "./error.ts";
import { conversationFile } from "./file-name.ts";
import { indexConversation, indexedStamps, unindexConversation } from "./search-index.ts";

/** A conversation's summary, with the stamp of its file. */
interface StampedSummary {
  readonly summary: ConversationSummary;
  readonly stamp: string;
}

/** Updates the index and finds messages. */
export async function searchConversations(
  directory: string,
  conversations: Catalogue,
  query: string,
  options: SearchOptions,
): Promise<SearchHit[]> {
  const words = queryWords(query);
  if (words.length === 0) return [];
  const entries = (await conversations.entries()).flatMap(({ summary, stamp }) =>
    summary ? [{ summary, stamp }] : [],
  );
  if (entries.length === 0) return [];
  const wanted = entries.filter(({ summary }) => isInSearch(summary, options));
  const search: ConversationSearch = {
    pathOf: (id) => conversationFile(directory, id),
    words,
    options,
    all: new Set(entries.map(({ summary }) => summary.id)),
    summaries: new Map(wanted.map((entry) => [entry.summary.id, entry])),
  };
  const file = catalogueIn(directory);
  try {
    using catalogue = writableCatalogue(file);
    return await searchIn(catalogue, search);
  } catch (error) {
    options.signal?.throwIfAborted();
    // With a full disk or a read-only directory, use an index in memory.
    if (sqliteStoreError(error, file).code === "damaged") discardCatalogue(file);
    using catalogue = passingCatalogue();
    return await searchIn(catalogue, search);
  }
}

interface ConversationSearch {
  readonly pathOf: (id: string) => string;
  readonly words: readonly string[];
  readonly options: SearchOptions;
  /** The ids of all conversations. */
  readonly all: ReadonlySet<string>;
  /** The conversations to search. */
  readonly summaries: ReadonlyMap<string, StampedSummary>;
}

/** Number of conversations that are indexed before the search looks for a complete page of newer hits. */
const EARLY = 200;

async function searchIn(catalogue: DatabaseSync, search: ConversationSearch): Promise<SearchHit[]> {
  const { options } = search;
  const limit = options.limit ?? LIMIT;
  if (limit <= 0) return [];
  for await (const newest of refresh(catalogue, search)) {
    // Messages of the conversations that are not indexed yet are older than all these hits.
    const early = hitsIn(catalogue, search, limit);
    if (early.length >= limit && (early.at(-1)?.at ?? 0) > newest) return early;
  }
  return hitsIn(catalogue, search, limit);
}

function hitsIn(catalogue: DatabaseSync, { pathOf, words, summaries }: ConversationSearch, limit: number): SearchHit[] {
  const hits: SearchHit[] = [];
  const isHidden = removedMessages(catalogue);
  for (const { conversation, number, message, seq } of catalogue.prepare(FOUND).iterate(matching(words))) {
    const summary = summaries.get(String(conversation))?.summary;
    if (!summary || isHidden(Number(number), String(message))) continue;
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

/**
 * Indexes the conversations of a search, the last written first. Yields from time to time with the time of the last
 * write to any conversation that is not indexed yet. Removes conversations without a file from the index.
 */
async function* refresh(
  catalogue: DatabaseSync,
  { pathOf, summaries, all, options }: ConversationSearch,
): AsyncGenerator<number> {
  const stamps = indexedStamps(catalogue);
  const gone = Array.from(stamps.keys()).filter((id) => !all.has(id));
  if (gone.length > 0)
    inSqliteTransaction(catalogue, () => {
      for (const id of gone) unindexConversation(catalogue, id);
    });
  const behind = Array.from(summaries.values()).filter(
    ({ summary, stamp }) => stamp === "" || stamps.get(summary.id) !== stamp,
  );
  behind.sort((a, b) => compareNewest(a.summary, b.summary));
  for (const [index, { summary, stamp }] of behind.entries()) {
    if (index > 0 && index % EARLY === 0) yield summary.updatedAt;
    await indexConversation(catalogue, summary.id, pathOf(summary.id), stamp, options.signal);
    await setImmediate();
    options.signal?.throwIfAborted();
  }
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
