import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import type { MemoryItem, RecallOptions } from "@banyan/core";
import type { RecalledMemory } from "@banyan/core/conversation";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { cutTo, cutToEnd } from "@banyan/core/shown";
import {
  entriesPage,
  forgetAll,
  forgetConversationEntries,
  forgetEntries,
  isOff,
  keepEntry,
  readEntries,
  readRecalled,
  summariesOf,
  switchOff,
  switchOn,
} from "./entries.ts";
import { MemoryError } from "./error.ts";

import type { ManagedMemory, MemoryEntry, MemorySearchOptions, NewFact } from "./managed-memory.ts";
import { MemoryFile } from "./memory-file.ts";
import { cutMemoryText, LONGEST_FACT, memoryPieces } from "./pieces.ts";
import { withoutSpokenPasswords } from "./spoken-passwords.ts";
import { Vectors } from "./vectors.ts";
import { tellingWords, textWords } from "./words.ts";

/** Characters of a query to search at each end. */
const QUERY_END = 4000;
/** Maximum characters of a recalled entry; only summaries are longer. */
const RECALLED = 2000;
/** Factor for the score of entries from the current directory, and of facts that a user asked to remember. */
const PREFERRED = 1.2;
const SIMILARITY = 0.3;

/**
 * Options of `sqliteMemory`.
 * @example
 * sqliteMemory({
 *   file: "memory.db",
 *   directory: process.cwd(),
 *   embed: await embeddingModel("openai/text-embedding-3-small"),
 *   similarity: 0.4,
 *   redact: (text) => text.replaceAll("hunter2", "..."),
 * });
 */
export interface SqliteMemoryOptions {
  /** The first entry creates the file, readable only by its owner. */
  readonly file: string;
  /** The current directory: new entries record it, and its entries rank higher. */
  readonly directory?: string | undefined;
  /**
   * An embedding model of the `@ai-sdk/provider` interface, version 4. The model gets entries and queries, to find
   * texts of similar meaning. While the model fails, recall uses words only and reports the error once.
   */
  readonly embed?: EmbeddingModelV4 | undefined;
  /** Minimum cosine of texts with similar meaning, from -1 to 1. The right value depends on the model. Default 0.3. */
  readonly similarity?: number | undefined;
  /** Removes secrets from a text before the text is stored or sent to the embedding model. */
  readonly redact?: ((text: string) => string) | undefined;
}

const OPTIONS: OptionNames<SqliteMemoryOptions> = {
  file: "string!",
  directory: "string",
  embed: "object",
  similarity: true,
  redact: "function",
};

/**
 * Creates a memory in a SQLite file, which any number of processes can share. Opens the file on first use. Remembers a
 * turn's user messages and last answer if they have at least three words, in pieces of at most 1,500 characters. Of a
 * long text, keeps the first and the last 6,000 characters.
 * @example const agent = new Agent({ model, memory: { store: sqliteMemory({ file: "memory.db" }) } });
 */
export function sqliteMemory(options: SqliteMemoryOptions): ManagedMemory {
  refuseUnknown("sqliteMemory", options, OPTIONS);
  return new SqliteMemory(options);
}

class SqliteMemory implements ManagedMemory {
  readonly #file: MemoryFile;
  readonly #directory: string;
  readonly #similarity: number;
  readonly #redact: (text: string) => string;
  readonly #vectors: Vectors | undefined;

  constructor({ file, directory = "", embed, similarity = SIMILARITY, redact = (text) => text }: SqliteMemoryOptions) {
    this.#file = new MemoryFile(file);
    this.#directory = directory;
    this.#similarity = similarity;
    this.#redact = (text) => withoutSpokenPasswords(redact(text));
    this.#vectors = embed && new Vectors(embed, this.#file);
  }

  async recall(query: string, options: RecallOptions): Promise<RecalledMemory[]> {
    const { limit, signal, conversation = "" } = options;
    signal.throwIfAborted();
    const ends = query.length > 2 * QUERY_END ? `${cutTo(query, QUERY_END, "")} ${cutToEnd(query, QUERY_END)}` : query;
    const text = this.#redact(ends.toWellFormed());
    const entries = await this.#file.read(
      [],
      async (database) => {
        if (limit <= 0 || isOff(database, conversation)) return [];
        const words = tellingWords(text);
        const found = await Promise.all([
          this.#file.find(database, { type: "about", words, conversation, directory: this.#directory }, signal),
          this.#near(text, options),
        ]);
        const scores = fuse(found);
        const score = ({ id, kind, directory }: MemoryEntry) =>
          (scores.get(id) ?? 0) * (directory === this.#directory ? PREFERRED : 1) * (kind === "fact" ? PREFERRED : 1);
        return readRecalled(database, Array.from(scores.keys()), this.#directory)
          .sort((a, b) => score(b) - score(a) || b.id - a.id)
          .slice(0, limit);
      },
      signal,
    );
    return entries.map(({ text, source, kind, role, at, conversation, message }) => ({
      text: cutMemoryText(text, RECALLED),
      source,
      kind,
      at,
      ...(role ? { role } : {}),
      ...(conversation ? { conversation } : {}),
      ...(message ? { message } : {}),
    }));
  }

  async remember(items: readonly MemoryItem[]): Promise<void> {
    const pieces = memoryPieces(items, this.#redact);
    if (pieces.length === 0) return;
    await this.#file.write((database) => {
      for (const piece of pieces) {
        if (!isOff(database, piece.conversation)) keepEntry(database, { directory: this.#directory, ...piece });
      }
    });
    this.#vectors?.fill();
  }

  async list({
    limit = 50,
    after = Number.MAX_SAFE_INTEGER,
    conversation,
  }: Parameters<ManagedMemory["list"]>[0] = {}): Promise<MemoryEntry[]> {
    return this.#file.read([], (database) => entriesPage(database, { limit: Math.max(0, limit), after, conversation }));
  }

  async search(query: string, options: MemorySearchOptions = {}): Promise<MemoryEntry[]> {
    const { limit = 20, signal = new AbortController().signal } = options;
    signal.throwIfAborted();
    const question = { type: "all", words: textWords(query), limit: Math.max(0, limit) } as const;
    return this.#file.read(
      [],
      async (database) => readEntries(database, await this.#file.find(database, question, signal)),
      signal,
    );
  }

  async add({ text: said, ...from }: NewFact): Promise<MemoryEntry> {
    const text = this.#redact(said).trim();
    if (text === "") throw new MemoryError("unfit", "Nothing to remember: the fact is empty.");
    if (text.length > LONGEST_FACT) {
      const most = LONGEST_FACT.toLocaleString("en");
      throw new MemoryError(
        "unfit",
        `A fact has at most ${most} characters, and this fact has ${text.length}; shorten the fact.`,
      );
    }
    const [entry] = await this.#file.write((database) => {
      if (isOff(database, from.conversation ?? "")) {
        throw new MemoryError("off", "Memory is off for this conversation. Turn memory on first.");
      }
      const id = keepEntry(database, { directory: this.#directory, ...from, kind: "fact", text, at: Date.now() });
      return readEntries(database, [id]);
    });
    this.#vectors?.fill();
    return entry as MemoryEntry;
  }

  async remove(id: number): Promise<boolean> {
    return (await this.#file.forget((database) => forgetEntries(database, [id]))) > 0;
  }

  async clear(from?: { readonly conversation: string }): Promise<number> {
    return this.#file.forget((database) =>
      from ? forgetConversationEntries(database, from.conversation) : forgetAll(database),
    );
  }

  async summaries(directory: string, limit: number): Promise<MemoryEntry[]> {
    return this.#file.read([], (database) => summariesOf(database, directory, Math.max(0, limit)));
  }

  async isOn(conversation: string): Promise<boolean> {
    return this.#file.read(true, (database) => !isOff(database, conversation));
  }

  async setOn(conversation: string, on: boolean): Promise<void> {
    const change = on ? switchOn : switchOff;
    await this.#file.write((database) => change(database, conversation));
  }

  async close(): Promise<void> {
    await this.#vectors?.close();
    await this.#file.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns no entries while the model fails. The first failure gives a notice. */
  async #near(query: string, { signal, conversation = "", notice }: RecallOptions): Promise<number[]> {
    if (!this.#vectors || query.trim() === "") return [];
    try {
      const sought = await this.#vectors.of(query, signal);
      const question = {
        type: "near",
        ...sought,
        least: this.#similarity,
        conversation,
        directory: this.#directory,
      } as const;
      return await this.#file.read([], (database) => this.#file.find(database, question, signal), signal);
    } catch (error) {
      if (!(error instanceof MemoryError && error.code === "embedder")) throw error;
      return [];
    } finally {
      const trouble = this.#vectors.takeTrouble();
      if (trouble) notice?.(trouble.message);
    }
  }
}

/** Constant of reciprocal rank fusion, as its authors propose. Reduces the weight of the first ranks. */
const K = 60;

/** Combines rankings (best first) to scores by reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009). */
function fuse(rankings: readonly (readonly number[])[]): Map<number, number> {
  const scores = new Map<number, number>();
  for (const ranking of rankings) {
    for (const [place, id] of ranking.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (K + place + 1));
  }
  return scores;
}
