import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isId, type Store, StoreError } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type {
  ConversationSummary,
  ListQuery,
  Log,
  LogView,
  OpenOptions,
  SearchHit,
  SearchOptions,
} from "@banyan/core/stores";
import { notFound, openElsewhere, openHere, storeClosed } from "../refusal.ts";
import { hasLabels, newestFirst } from "../summary.ts";
import { readCatalogue } from "./catalogue.ts";
import { type OpenFile, openConversationFile } from "./conversation-file.ts";
import { storeError } from "./error.ts";
import { conversationFile } from "./file-name.ts";
import { SqliteLog } from "./log.ts";
import { OpenFiles } from "./open-files.ts";
import { type FileOwner, thisOwner } from "./owner.ts";
import { isHeld, ProcessLock } from "./process-lock.ts";
import { RightsFiles } from "./rights-files.ts";
import { forget, searchConversations } from "./search.ts";
import { SqliteView } from "./view.ts";

/**
 * How many conversations have their files open at once. Each takes three open files and about 0.2 MB; one that was closed
 * takes 2 ms more for its next append (docs/durability.md).
 */
const OPEN_FILES = 1000;

/**
 * What a SQLite store is made of.
 * @example sqliteStore({ directory: "conversations", program: "my-program", openFiles: 100 });
 */
export interface SqliteStoreOptions {
  readonly directory: string;
  /** What this program is called when another one asks who has a conversation open; the name it was started by if absent. */
  readonly program?: string;
  /**
   * At most this many conversations have their files open at once, 1,000 when absent. Any number can be written to: the file
   * that was not used for longest is closed, and opened again when it is needed.
   */
  readonly openFiles?: number;
}

const OPTIONS: OptionNames<SqliteStoreOptions> = { directory: true, program: true, openFiles: true };

/**
 * Keeps each conversation in a SQLite file of its own, `conversations/<id>.sqlite` under `directory`, and what lists and
 * searches need of them in `catalogue.sqlite`, which is remade from the files whenever it is missing or damaged. What a
 * person allowed in one stands apart from it, in `rights/`: a file that is copied brings none (S17).
 * Nothing is read or made before the first `open`, `list` or `search`; where there are no conversations, a list makes
 * nothing. Files and directories are for their owner only. `fileNameOf` says which file is that of an id which is more than
 * lower-case letters and digits.
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  refuseUnknown("sqliteStore", options, OPTIONS);
  return new SqliteStore(options);
}

class SqliteStore implements Store {
  readonly #directory: string;
  readonly #program: string | undefined;
  readonly #files: OpenFiles;
  readonly #rights: RightsFiles;
  /** Those that can be written to, by conversation. */
  readonly #logs = new Map<string, SqliteLog>();
  /** Those that were taken from their writers and not closed yet. */
  readonly #overtaken = new Set<SqliteLog>();
  /** Held from the first conversation on: other processes see by it that this store lives. */
  #lock: ProcessLock | undefined;
  /** The file of a conversation that was closed still names the lock: on a full disk nothing else could be written. */
  #isClaiming = false;
  #closed = false;

  constructor({ directory, program, openFiles = OPEN_FILES }: SqliteStoreOptions) {
    this.#directory = directory;
    this.#rights = new RightsFiles(directory);
    this.#program = program;
    this.#files = new OpenFiles(openFiles);
  }

  async open(id: string, { create = false, take = false }: OpenOptions = {}): Promise<Log> {
    if (this.#closed) throw storeClosed();
    const before = this.#logs.get(id);
    if (before && !take) throw openHere(id);
    const opened = this.#openFile(id, create, take);
    const rights = this.#rights.of(id);
    try {
      // Before its first event: with events, a file that is not known to have begun here is one that somebody put there (S17).
      if (opened.seq === 0) rights.begin();
    } catch (error) {
      opened.file.close();
      throw error;
    }
    const log = new SqliteLog(id, opened, rights, (isReleased) => {
      if (this.#logs.get(id) === log) this.#logs.delete(id);
      this.#overtaken.delete(log);
      this.#isClaiming ||= !isReleased;
      if (this.#isClaiming) this.#claimNothing();
    });
    this.#logs.set(id, log);
    if (before) this.#overtaken.add(before);
    return log;
  }

  async view(id: string): Promise<LogView> {
    if (this.#closed) throw storeClosed();
    return new SqliteView(this.#pathOf(id), id, (last) => this.#logs.has(id) || this.#lives(last));
  }

  async list(query: ListQuery = {}): Promise<ConversationSummary[]> {
    if (this.#closed) throw storeClosed();
    const entries = await readCatalogue(this.#directory);
    const summaries = entries.map(({ summary }) => summary).filter((summary) => hasLabels(summary, query.labels));
    return newestFirst(summaries, query.limit);
  }

  async search(query: string, options: SearchOptions = {}): Promise<SearchHit[]> {
    if (this.#closed) throw storeClosed();
    return searchConversations(this.#directory, query, options);
  }

  async remove(id: string): Promise<void> {
    if (this.#closed) throw storeClosed();
    if (this.#logs.has(id)) throw openHere(id);
    removeConversationFile(this.#pathOf(id), () => this.#openFile(id, false, false).file.close());
    forget(this.#directory, id);
    this.#rights.remove(id);
  }

  async close(): Promise<void> {
    this.#closed = true;
    try {
      for (const log of [...this.#logs.values(), ...this.#overtaken]) await log.close();
    } finally {
      this.#lock?.release();
      this.#lock = undefined;
    }
  }

  #openFile(id: string, create: boolean, take: boolean): OpenFile {
    return openConversationFile(this.#pathOf(id), id, {
      create,
      owner: () => {
        this.#lock ??= ProcessLock.take(this.#directory);
        return thisOwner(this.#lock.name, this.#program);
      },
      refuse: (last) => {
        if (!take && last && this.#lives(last)) throw openElsewhere(id, last);
      },
      files: this.#files,
    });
  }

  /** Gives the lock up as soon as nothing is open: the next conversation gets another one, and no file that is closed does. */
  #claimNothing(): void {
    if (this.#logs.size + this.#overtaken.size > 0) return;
    this.#lock?.release();
    this.#lock = undefined;
    this.#isClaiming = false;
  }

  /** Whether another store holds what it opened. What this one holds is in `#logs`. */
  #lives({ lock }: FileOwner): boolean {
    return lock !== this.#lock?.name && isHeld(this.#directory, lock);
  }

  #pathOf(id: string): string {
    if (!isId(id)) throw notFound(id);
    return conversationFile(this.#directory, id);
  }
}

/**
 * Removes a conversation's file. `take` makes this process its writer, so that nobody else begins to write meanwhile, and
 * throws `locked` while somebody does, or `not-found`. A file that cannot be read can be removed. Throws `StoreError`.
 */
function removeConversationFile(path: string, take: () => void): void {
  try {
    take();
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "damaged") throw error;
  }
  try {
    // The file itself last: what is beside it must not meet a new one of the same name.
    const folder = dirname(path);
    const beside = readdirSync(folder).filter((name) => name.startsWith(`${basename(path)}.`));
    for (const name of beside) rmSync(join(folder, name), { force: true });
    for (const suffix of ["-wal", "-shm", ""]) rmSync(path + suffix, { force: true });
  } catch (error) {
    throw storeError(error, path);
  }
}
