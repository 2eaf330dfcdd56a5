import { type BigIntStats, opendirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { ConversationSummary } from "@banyan/core/stores";
import { compareNewest } from "../log/summary.ts";
import { catalogueIn } from "./catalogue-file.ts";
import { type CatalogueEntry, loadEntries, saveEntries } from "./catalogue-rows.ts";
import { readFileSummary } from "./conversation-summary.ts";
import { sqliteStoreError } from "./error.ts";
import { conversationFileName, idIn } from "./file-name.ts";
import { Slices } from "./slices.ts";

/** A log that this process writes. */
export interface OwnLog {
  /** True if no event was appended after the last call of `summary`. */
  readonly isListed: boolean;
  /** Returns the current summary; `undefined` if only the file has the summary. */
  summary(): ConversationSummary | undefined;
}

/** Milliseconds for which an unchanged folder is trusted: tools may overwrite a file in place. */
const TRUSTED = 10_000;
/** Milliseconds between two changes that a file clock may not tell apart (1 to 10 ms). */
const TICK = 20;
/** Milliseconds by which a file clock may be ahead. A later time was set by a tool, or before this clock went back. */
const AHEAD = 60_000;
/** Milliseconds for which the next pages of a list use the scan of the first page. */
const PAGED = 5_000;
/** Minimum milliseconds between two scans for a watcher, and the maximum share of time that scans take. */
const WATCHED = 2_000;
const SHARE = 1 / 20;

/**
 * The summaries of a folder's conversations, in memory. A file is read only if its stamp has changed, which shows that
 * a process wrote to it. Appends therefore need no second file, and a crash leaves no stale entry.
 *
 * A writer needs a write-ahead log beside its file. Each file that comes or goes changes the folder's time. While
 * that time is the same, only files with a write-ahead log can have changed. Scans run in slices.
 */
export class Catalogue {
  readonly #directory: string;
  readonly #folder: string;
  readonly #logs: ReadonlyMap<string, OwnLog>;
  readonly #entries = new Map<string, CatalogueEntry>();
  /** Names of files that each scan looks at: files with a write-ahead log, and unreadable files. */
  readonly #due = new Set<string>();
  /** Names of files whose summaries came from logs of this process. */
  readonly #own = new Set<string>();
  /** Entries that differ from `catalogue.sqlite`; `undefined` for a removed conversation. */
  readonly #unsaved = new Map<string, CatalogueEntry | undefined>();
  readonly #listed = new Set<ConversationSummary>();
  #sorted: readonly ConversationSummary[] = [];
  #isSorted = true;
  #scanned = Number.NEGATIVE_INFINITY;
  /** The folder at the last scan of all files, if a later change has another time. */
  #unchanged: { readonly time: string; readonly until: number } | undefined;
  #isLoaded = false;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  readonly #watchers = new Set<(conversations: readonly string[]) => void>();
  readonly #news = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  /** `logs`: the logs that this process writes, by conversation. */
  constructor(directory: string, logs: ReadonlyMap<string, OwnLog> = new Map()) {
    this.#directory = directory;
    this.#folder = join(directory, "conversations");
    this.#logs = logs;
  }

  /**
   * Returns all conversations in the order of lists, as of now. `continues`: the caller has the page before and needs no
   * newer state. Rejects with a `StoreError`.
   */
  async all(continues = false): Promise<readonly ConversationSummary[]> {
    // Other work runs between two pages, also if no page waits for a disk.
    if (continues) await setImmediate();
    if (!continues || performance.now() - this.#scanned > PAGED) await this.refresh();
    if (!this.#isSorted) {
      // Most of the array is in order already, so the sort takes linear time.
      const kept = this.#sorted.filter((summary) => this.#listed.has(summary));
      const known = new Set(kept);
      for (const summary of this.#listed) if (!known.has(summary)) kept.push(summary);
      this.#sorted = kept.sort(compareNewest);
      this.#isSorted = true;
    }
    return this.#sorted;
  }

  /** Returns those of the conversations that exist, as of now, without a look at other files. */
  async some(ids: readonly string[]): Promise<readonly ConversationSummary[]> {
    const slices = new Slices();
    const found: ConversationSummary[] = [];
    for (const id of new Set(ids)) {
      if (slices.isOver) await slices.next();
      const name = conversationFileName(id);
      this.#look(name, id);
      const summary = this.#entries.get(name)?.summary;
      if (summary?.id === id) found.push(summary);
    }
    return found.sort(compareNewest);
  }

  /** Returns all conversations with the stamps of their files. */
  async entries(): Promise<readonly CatalogueEntry[]> {
    await this.refresh();
    return Array.from(this.#entries.values());
  }

  /** Call after a conversation was removed. */
  removed(id: string): void {
    this.#look(conversationFileName(id), id);
  }

  /** Implements `Store.watch`. */
  watch(changed: (conversations: readonly string[]) => void): () => void {
    // A new function each time: the same watcher may watch twice.
    const watcher = (conversations: readonly string[]) => changed(conversations);
    this.#watchers.add(watcher);
    // The first scan must not wait, because its findings count as no change.
    if (this.#timer === undefined) this.#tellAfter(Number.isFinite(this.#scanned) ? WATCHED : 0);
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.close();
    };
  }

  /** Ends all watching. */
  close(): void {
    this.#watchers.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Looks for changes by other processes. Calls during a scan share the next scan. Rejects with a `StoreError`. */
  refresh(): Promise<void> {
    if (!this.#running) {
      this.#running = this.#scan().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    const start = () => {
      this.#next = undefined;
      return this.refresh();
    };
    this.#next ??= this.#running.then(start, start);
    return this.#next;
  }

  async #scan(): Promise<void> {
    const slices = new Slices();
    if (!this.#isLoaded) {
      for (const [name, entry] of await loadEntries(catalogueIn(this.#directory), slices))
        if (!this.#entries.has(name)) this.#put(name, entry);
      this.#isLoaded = true;
    }
    const now = performance.now();
    const folder = statsOf(this.#folder);
    const time = `${folder?.dev}:${folder?.ino}:${folder?.mtimeNs}`;
    const isOld = folder !== undefined && isPastTick(Number(folder.mtimeMs));
    if (time === this.#unchanged?.time && now < this.#unchanged.until) {
      for (const name of [...this.#due]) {
        if (slices.isOver) await slices.next();
        this.#look(name, idIn(name)?.id);
      }
    } else {
      this.#unchanged = undefined;
      if (folder) await this.#lookAtAll(slices);
      else for (const name of [...this.#entries.keys()]) this.#forget(name);
      if (isOld) this.#unchanged = { time, until: now + TRUSTED };
    }
    this.#scanned = performance.now();
    await saveEntries(catalogueIn(this.#directory), this.#unsaved, slices);
  }

  async #lookAtAll(slices: Slices): Promise<void> {
    const names = new Map<string, string | undefined>();
    const logs = new Set<string>();
    try {
      const folder = opendirSync(this.#folder, { bufferSize: 512 });
      try {
        for (let file = folder.readSync(); file; file = folder.readSync()) {
          if (slices.isOver) await slices.next();
          const [, name = "", log] = /^(.+)\.sqlite(-wal)?$/.exec(file.name) ?? [];
          const known = log === undefined && name !== "" ? idIn(name) : undefined;
          if (known) names.set(name, known.id);
          else if (log !== undefined) logs.add(name);
        }
      } finally {
        folder.closeSync();
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw sqliteStoreError(error, this.#folder);
    }
    for (const [name, id] of names) {
      if (slices.isOver) await slices.next();
      // A file that the folder has, but that cannot be looked at, such as a link to itself, hides no other.
      if (!this.#entries.has(name)) this.#entries.set(name, { summary: undefined, stamp: "" });
      this.#look(name, id, logs.has(name));
    }
    // Another call may have found a file that began after the folder was read.
    for (const name of this.#entries.keys()) if (!names.has(name)) this.#look(name, idIn(name)?.id);
  }

  /** Reads a file if its stamp has changed. An unreadable file keeps the summary that was known. */
  #look(name: string, id: string | undefined, hasLog = true): void {
    const path = join(this.#folder, `${name}.sqlite`);
    const known = this.#entries.get(name);
    const file = fileStamp(path, known !== undefined);
    if (!file) return this.#forget(name);
    const log = hasLog ? fileStamp(`${path}-wal`, true) : undefined;
    const now = `${file.text} ${log?.text ?? ""}`;
    // A later write in the same tick of the file clock may leave the same stamp.
    const stamp = isPastTick(file.written) && isPastTick(log?.written ?? 0) ? now : "";
    if (stamp !== "" && !log) this.#due.delete(name);
    else this.#due.add(name);
    const own = this.#logs.get(id ?? known?.summary?.id ?? "");
    if (known?.stamp === now && own?.isListed !== false) return;
    const ours = own?.summary();
    const read = ours ?? readFileSummary(path, id);
    if (read === "empty") return this.#put(name, { summary: undefined, stamp });
    if (read !== "unreadable" && conversationFileName(read.id) === name) {
      const summary = known?.summary && isSame(known.summary, read) ? known.summary : read;
      const entry = { summary, stamp };
      if (summary !== known?.summary || stamp !== known.stamp) this.#unsaved.set(read.id, entry);
      const wasOurs = this.#own.delete(name);
      if (ours) this.#own.add(name);
      else if (wasOurs) this.#changed(read.id);
      return this.#put(name, entry);
    }
    // The next scan tries again. Without the id, the conversation could not be opened.
    this.#due.add(name);
    const summary = known?.summary ?? (id === undefined ? undefined : unreadableSummary(id, file.written));
    this.#put(name, { summary, stamp: "" });
  }

  #put(name: string, entry: CatalogueEntry): void {
    const before = this.#entries.get(name)?.summary;
    this.#entries.set(name, entry);
    if (before === entry.summary) return;
    if (before) this.#listed.delete(before);
    if (entry.summary) this.#listed.add(entry.summary);
    this.#isSorted = false;
    if (!this.#own.has(name)) this.#changed(entry.summary?.id ?? before?.id);
  }

  #forget(name: string): void {
    this.#due.delete(name);
    this.#own.delete(name);
    const before = this.#entries.get(name)?.summary;
    if (!this.#entries.delete(name) || !before) return;
    this.#listed.delete(before);
    this.#isSorted = false;
    this.#unsaved.set(before.id, undefined);
    this.#changed(before.id);
  }

  /**
   * Notes news for watchers. The first scan finds conversations, and no changes. Changes by a log of this process are news
   * when the log is closed, or when another process has taken the conversation.
   */
  #changed(id: string | undefined): void {
    if (this.#watchers.size > 0 && Number.isFinite(this.#scanned) && id !== undefined) this.#news.add(id);
  }

  #tellAfter(wait: number): void {
    const timer = setTimeout(async () => {
      const began = performance.now();
      // The next scan tries again.
      await this.refresh().catch(() => {});
      if (this.#timer !== timer) return;
      const news = [...this.#news];
      this.#news.clear();
      if (news.length > 0) for (const changed of this.#watchers) changed(news);
      this.#tellAfter(Math.max(WATCHED, (performance.now() - began) / SHARE));
    }, wait).unref();
    this.#timer = timer;
  }
}

/** Undefined if there is no such file. `isThere`: the folder has the file, so an error only concerns this file. */
function fileStamp(file: string, isThere: boolean): { readonly text: string; readonly written: number } | undefined {
  try {
    const stat = statsOf(file);
    return stat?.isFile() ? { text: `${stat.mtimeNs}:${stat.size}`, written: Number(stat.mtimeMs) } : undefined;
  } catch (error) {
    if (!isThere) throw error;
    return { text: "", written: 0 };
  }
}

function statsOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    throw sqliteStoreError(error, path);
  }
}

/** Returns whether a later write would change this time of the last write. */
function isPastTick(written: number): boolean {
  const age = Date.now() - written;
  return age > TICK || age < -AHEAD;
}

function isSame(one: ConversationSummary, other: ConversationSummary): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function unreadableSummary(id: string, written: number): ConversationSummary {
  return { id, title: "(unreadable)", labels: {}, createdAt: written, updatedAt: written };
}
