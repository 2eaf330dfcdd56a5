import { readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isId, type Store, StoreError } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type {
  ConversationSummary,
  ListQuery,
  Log,
  LogView,
  OpenLogOptions,
  SearchHit,
  SearchOptions,
} from "@banyan/core/stores";
import {
  checkListQuery,
  checkOpenOptions,
  checkSearch,
  notFound,
  openElsewhere,
  openHere,
  storeClosed,
} from "../log/refusal.ts";
import { pageOf } from "../log/summary.ts";
import { queryWords } from "../search/words.ts";
import { Catalogue } from "./catalogue.ts";
import { catalogueIn } from "./catalogue-file.ts";
import { type OpenLogFile, openConversationFile } from "./conversation-file.ts";
import { sqliteStoreError } from "./error.ts";
import { conversationFile } from "./file-name.ts";
import { SqliteLog } from "./log.ts";
import { OpenFiles } from "./open-files.ts";
import { type FileOwner, thisOwner } from "./owner.ts";
import { isHeld, ProcessLock } from "./process-lock.ts";
import { RightsFiles } from "./rights-files.ts";
import { SearchThread } from "./search-thread.ts";
import { SqliteView } from "./view.ts";

/** Each conversation needs three file handles and about 0.2 MB. Reopening a file takes 2 ms (docs/durability.md). */
const OPEN_FILES = 1000;

/**
 * Options of a SQLite store.
 * @example sqliteStore({ directory: "conversations", program: "my-program", openFiles: 100 });
 */
export interface SqliteStoreOptions {
  readonly directory: string;
  /** The name that other programs show for this one in messages. Default: the program's file. */
  readonly program?: string;
  /** Maximum number of conversations with open files. Other files are reopened on demand. Default 1,000. */
  readonly openFiles?: number;
}

const OPTIONS: OptionNames<SqliteStoreOptions> = { directory: "string!", program: "string", openFiles: "number" };

/**
 * Creates a store with one SQLite file for each conversation, `conversations/<id>.sqlite` in `directory`. Lists and
 * searches use `catalogue.sqlite`, which is rebuilt from the files. Permissions are in `rights/`, so a copied file
 * brings no permissions (S17). Only the owner can read files and directories. Creates nothing before the first
 * conversation. `conversationFileName` defines file names for ids with other characters than lower-case letters and
 * digits.
 * @example
 * await using session = await Session.open(sqliteStore({ directory: "conversations" }), "order-7", { create: true });
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
  readonly #logs = new Map<string, SqliteLog>();
  readonly #catalogue: Catalogue;
  readonly #search: SearchThread;
  /** Logs of conversations that another program took over, until they are closed. */
  readonly #overtaken = new Set<SqliteLog>();
  /** Held while a conversation is open, so that other processes see that this store lives. */
  #lock: ProcessLock | undefined;
  /** True if a closed conversation's file still names the lock, because the disk was full. */
  #isClaiming = false;
  #closed = false;

  constructor({ directory, program, openFiles = OPEN_FILES }: SqliteStoreOptions) {
    this.#directory = directory;
    this.#rights = new RightsFiles(directory);
    this.#program = program;
    this.#files = new OpenFiles(openFiles);
    this.#catalogue = new Catalogue(directory, this.#logs);
    this.#search = new SearchThread(directory);
  }

  async open(id: string, options: OpenLogOptions = {}): Promise<Log> {
    if (this.#closed) throw storeClosed();
    checkOpenOptions(options);
    const { create = false, take = false } = options;
    const before = this.#logs.get(id);
    if (before && !take) throw openHere(id);
    const opened = this.#openFile(id, create, take);
    const rights = this.#rights.of(id);
    try {
      // A file with events that is not recorded as begun here counts as copied (S17).
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
    checkListQuery(query);
    const { conversations, after } = query;
    const named = conversations && this.#catalogue.some(conversations.filter(isId));
    return pageOf(await (named ?? this.#catalogue.all(after !== undefined)), query);
  }

  watch(changed: (conversations: readonly string[]) => void): () => void {
    return this.#closed ? () => {} : this.#catalogue.watch(changed);
  }

  async search(query: string, options: SearchOptions = {}): Promise<SearchHit[]> {
    if (this.#closed) throw storeClosed();
    checkSearch(query, options);
    options.signal?.throwIfAborted();
    return queryWords(query).length === 0 ? [] : this.#search.search(query, options);
  }

  async remove(id: string): Promise<void> {
    if (this.#closed) throw storeClosed();
    if (this.#logs.has(id)) throw openHere(id);
    removeConversationFile(this.#pathOf(id), () => this.#openFile(id, false, false).file.close());
    this.#rights.remove(id);
    this.#catalogue.removed(id);
    if (statSync(catalogueIn(this.#directory), { throwIfNoEntry: false })) await this.#search.forget(id);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#catalogue.close();
    await this.#search.close();
    try {
      for (const log of [...this.#logs.values(), ...this.#overtaken]) await log.close();
    } finally {
      this.#lock?.release();
      this.#lock = undefined;
    }
  }

  #openFile(id: string, create: boolean, take: boolean): OpenLogFile {
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

  /** Releases the lock when no conversation is open, so that closed files count as free. */
  #claimNothing(): void {
    if (this.#logs.size + this.#overtaken.size > 0) return;
    this.#lock?.release();
    this.#lock = undefined;
    this.#isClaiming = false;
  }

  #lives({ lock }: FileOwner): boolean {
    return lock !== this.#lock?.name && isHeld(this.#directory, lock);
  }

  #pathOf(id: string): string {
    if (!isId(id)) throw notFound(id);
    return conversationFile(this.#directory, id);
  }
}

/** `take` makes this process the writer, or throws. Unreadable files can be removed. Throws a `StoreError`. */
function removeConversationFile(path: string, take: () => void): void {
  try {
    take();
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "damaged") throw error;
  }
  try {
    // Last: additional files must not meet a new file of the same name.
    const folder = dirname(path);
    const beside = readdirSync(folder).filter((name) => name.startsWith(`${basename(path)}.`));
    for (const name of beside) rmSync(join(folder, name), { force: true });
    for (const suffix of ["-wal", "-shm", ""]) rmSync(path + suffix, { force: true });
  } catch (error) {
    throw sqliteStoreError(error, path);
  }
}
