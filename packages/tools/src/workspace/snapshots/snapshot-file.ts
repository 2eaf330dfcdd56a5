import { hash } from "node:crypto";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { promisify } from "node:util";
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from "node:zlib";
import type { FileChange } from "@banyan/core/conversation";
import { WorkspaceError } from "../files/error.ts";
import { openDatabase } from "./open-database.ts";

/** A file, link or folder of a workspace during a range of moments. */
export interface Entry {
  readonly id: number;
  /** The path relative to the workspace, with `/` between parts. */
  readonly path: string;
  /** The moment at which the entry was found in this state. */
  readonly since: number;
  readonly kind: EntryKind;
  /** Permission bits. */
  readonly mode: number;
  /** The kept content; `null`: none is kept. A link's content is its target. */
  readonly content: number | null;
  /** True if git ignores the file. */
  readonly isIgnored: boolean;
  readonly stamp: FileStamp;
}

/**
 * Kind of an entry. `cache`: a folder whose content no snapshot keeps. `special`: a pipe, a socket or a device, which a
 * restoration can only remove.
 */
export type EntryKind = "file" | "link" | "folder" | "cache" | "special";

/** The facts by which an unchanged file is recognised without reading it. */
export interface FileStamp {
  readonly inode: number;
  readonly size: number;
  readonly modified: number;
  readonly changed: number;
  /** True if the file changed so shortly before the scan that a later change could have the same times. */
  readonly isFresh: boolean;
}

/**
 * Why a moment was recorded. `before`: a call is about to change files. `after`: a call has ended. `process`: like
 * `before`, while background commands of the conversation ran. `look`: a user looked at the differences. `rewind`: files
 * were restored. See {@link WorkspaceSnapshots}.
 */
export type MomentPhase = "before" | "after" | "process" | "look" | "rewind";

/**
 * The occasion of a moment. `message` and `call` are empty for users. `call` of a rewind: the restored moment.
 * See {@link WorkspaceSnapshots}.
 */
export interface Occasion {
  readonly conversation: string;
  readonly message: string;
  readonly call: string;
}

/** A point in the history of a workspace's files. Later moments have higher ids. See {@link WorkspaceSnapshots}. */
export interface Moment extends Occasion {
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly phase: MomentPhase;
}

/** A path that differs between a moment and now. */
export interface EntryDifference {
  readonly path: string;
  readonly past: Entry | undefined;
  readonly now: Entry | undefined;
  /** The moments at which a change of the path was found. */
  readonly found: readonly number[];
}

/** One step of an unfinished restoration: the entry to restore, and the entry to replace. */
export interface PendingRestoration {
  readonly path: string;
  readonly target: Entry | undefined;
  readonly now: Entry | undefined;
}

/** The files of a restoration, for the message with the id `message` below the message `leaf`. See {@link WorkspaceSnapshots}. */
export interface RestorationReport {
  readonly id: number;
  readonly leaf: string;
  readonly message: string;
  readonly files: readonly FileChange[];
}

const SMALLEST_PACKED = 96;
/** Larger contents are packed in a thread. */
const MOST_AT_ONCE = 128 * 1024;
const LEVEL = { level: 3 };
const [pack, unpack] = [promisify(deflateRaw), promisify(inflateRaw)];

/**
 * The content store of one workspace: a SQLite file with the states of its files over time, and their contents. While it
 * is open, no other process or object can open it, and the system releases this lock if the process dies. So an
 * unfinished restoration in a file that opens belongs to a dead process.
 */
export class SnapshotFile implements Disposable {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Opens or creates the file, and waits while another process uses it. A damaged file is put aside. */
  static async open(file: string): Promise<SnapshotFile> {
    return new SnapshotFile(await openDatabase(file));
  }

  /** Changes whenever a process changes the file. */
  get revision(): number {
    return Number(this.#one("SELECT number FROM revision")?.number);
  }

  /**
   * Runs work whose writes survive the death of the process all together, or not at all. With `isDurable`, they and all
   * earlier writes also survive a power cut that follows at once.
   */
  async transaction<Result>(work: () => Promise<Result> | Result, isDurable = false): Promise<Result> {
    this.#database.exec(`PRAGMA synchronous = ${isDurable ? "FULL" : "NORMAL"}`);
    this.#database.exec("BEGIN");
    try {
      const result = await work();
      this.#run("UPDATE revision SET number = number + 1");
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      // SQLite itself rolls back after some errors, such as a full disk.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  addMoment(phase: MomentPhase, { conversation, message, call }: Occasion): number {
    const sql = "INSERT INTO moments (at, phase, conversation, message, call) VALUES (?, ?, ?, ?, ?)";
    return this.#run(sql, Date.now(), phase, conversation, message, call);
  }

  /** The latest id of a moment, removed ones included; 0 without moments. */
  get lastMoment(): number {
    return Number(this.#one("SELECT seq FROM sqlite_sequence WHERE name = 'moments'")?.seq ?? 0);
  }

  hasMoment(id: number): boolean {
    return this.#one("SELECT id FROM moments WHERE id = ?", id) !== undefined;
  }

  /** Returns moments in order: of a conversation, or all after a moment. */
  moments(which: { readonly conversation: string } | { readonly after: number }): Moment[] {
    const [where, value] = "after" in which ? ["id > ?", which.after] : ["conversation = ?", which.conversation];
    return this.#all(`SELECT * FROM moments WHERE ${where} ORDER BY id`, value) as unknown as Moment[];
  }

  /** Returns the latest state of each path. */
  current(): Entry[] {
    return this.#all("SELECT * FROM entries WHERE until IS NULL").map(entryOf);
  }

  /** Returns the latest recorded mode of a folder. */
  folderMode(path: string): number | undefined {
    const row = this.#one("SELECT mode FROM entries WHERE path = ? AND kind = 'folder' AND until IS NULL", path);
    return row && Number(row.mode);
  }

  /** Records a state of a path from a moment on. */
  begin(entry: Omit<Entry, "id">): Entry {
    const { path, since, kind, mode, content, isIgnored, stamp } = entry;
    const { inode, size, modified, changed, isFresh } = stamp;
    const sql =
      "INSERT INTO entries (path, since, kind, mode, content, ignored, inode, size, modified, changed, fresh) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    const values = [path, since, kind, mode, content, Number(isIgnored), inode, size, modified, changed];
    return { ...entry, id: this.#run(sql, ...values, Number(isFresh)) };
  }

  end({ id, since }: Entry, moment: number): void {
    // A state of no moment is in no snapshot.
    if (since === moment) this.#run("DELETE FROM entries WHERE id = ?", id);
    else this.#run("UPDATE entries SET until = ? WHERE id = ?", moment, id);
  }

  /** Records facts about an unchanged file. */
  refresh({ id, content, stamp: { inode, size, modified, changed, isFresh } }: Entry): void {
    const sql =
      "UPDATE entries SET content = ?, inode = ?, size = ?, modified = ?, changed = ?, fresh = ? WHERE id = ?";
    this.#run(sql, content, inode, size, modified, changed, Number(isFresh), id);
  }

  /** Returns the paths that differ between a moment and the latest state. */
  differences(moment: number): EntryDifference[] {
    const rows = this.#all(
      "SELECT * FROM entries WHERE until > ?1 OR (until IS NULL AND since > ?1) ORDER BY path, since",
      moment,
    );
    return [...Map.groupBy(rows, ({ path }) => String(path))].map(([path, states]) => {
      const past = states.find(({ since }) => Number(since) <= moment);
      const now = states.find(({ until }) => until === null);
      const found = states.flatMap(({ since, until }) => [since, until]).filter((id) => id !== null);
      return {
        path,
        past: past && entryOf(past),
        now: now && entryOf(now),
        found: [...new Set(found.map(Number))].filter((id) => id > moment),
      };
    });
  }

  /** Returns the moments that found a change of a path, in order. */
  changesOf(path: string): number[] {
    const ends = "SELECT until FROM entries WHERE path = ?1 AND until IS NOT NULL";
    const rows = this.#all(`SELECT since AS at FROM entries WHERE path = ?1 UNION ${ends} ORDER BY at`, path);
    return rows.map(({ at }) => Number(at));
  }

  /** Keeps a content, once. Returns its id. */
  async keep(bytes: Buffer): Promise<number> {
    const digest = hash("sha256", bytes, "buffer");
    const known = this.#one("SELECT id FROM contents WHERE digest = ?", digest);
    if (known) return Number(known.id);
    let packed: Buffer = bytes;
    if (bytes.length >= SMALLEST_PACKED)
      packed = bytes.length > MOST_AT_ONCE ? await pack(bytes, LEVEL) : deflateRawSync(bytes, LEVEL);
    const isPacked = packed.length < bytes.length;
    // An empty content would count as NULL.
    const sql = "INSERT INTO contents (digest, size, packed, bytes) VALUES (?, ?, ?, coalesce(?, x''))";
    return this.#run(sql, digest, bytes.length, Number(isPacked), isPacked ? packed : bytes);
  }

  /** Returns a kept content. Throws a `WorkspaceError` if it is damaged. */
  async content(id: number): Promise<Buffer> {
    const row = this.#one("SELECT digest, packed, bytes FROM contents WHERE id = ?", id);
    const stored = Buffer.from((row?.bytes as Uint8Array | undefined) ?? []);
    const bytes =
      row?.packed !== 1 ? stored : await (stored.length > MOST_AT_ONCE ? unpack(stored) : inflateRawSync(stored));
    const digest = hash("sha256", bytes, "buffer");
    if (row && digest.equals(row.digest as Uint8Array)) return bytes;
    throw new WorkspaceError("missing", "The kept content of a file was damaged, so it cannot be restored.");
  }

  /** Bytes of the file that hold data. */
  get size(): number {
    const of = (name: string) => Number(this.#one(`PRAGMA ${name}`)?.[name]);
    return (of("page_count") - of("freelist_count")) * of("page_size");
  }

  pending(): PendingRestoration[] {
    const entry = (id: SQLInputValue | undefined) => {
      const row = id == null ? undefined : this.#one("SELECT * FROM entries WHERE id = ?", id);
      return row && entryOf(row);
    };
    return this.#all("SELECT * FROM restorations ORDER BY path").map(({ path, target, now }) => ({
      path: String(path),
      target: entry(target),
      now: entry(now),
    }));
  }

  /** The conversation of the unfinished restoration. */
  get pendingConversation(): string {
    return String(this.#one("SELECT conversation FROM restorations LIMIT 1")?.conversation ?? "");
  }

  setPending(steps: readonly PendingRestoration[], conversation: string): void {
    this.#run("DELETE FROM restorations");
    const sql = "INSERT INTO restorations VALUES (?, ?, ?, ?)";
    for (const { path, target, now } of steps) this.#run(sql, path, target?.id ?? null, now?.id ?? null, conversation);
  }

  /** Records that the restoration which begins is to be reported. */
  addReport(conversation: string, { leaf, message, files }: Omit<RestorationReport, "id">): void {
    const sql = "INSERT INTO reports (conversation, leaf, message, files) VALUES (?, ?, ?, ?)";
    this.#run(sql, conversation, leaf, message, JSON.stringify(files));
  }

  /** Ends the pending restoration. Its report keeps the files that were `restored`. */
  endPending(restored: ReadonlySet<string>): void {
    for (const { id, files } of this.#all("SELECT id, files FROM reports WHERE done = 0")) {
      const kept = (JSON.parse(String(files)) as FileChange[]).filter(({ path }) => restored.has(path));
      if (kept.length === 0) this.#run("DELETE FROM reports WHERE id = ?", id as number);
      else this.#run("UPDATE reports SET files = ?, done = 1 WHERE id = ?", JSON.stringify(kept), id as number);
    }
    this.setPending([], "");
  }

  reports(conversation: string): RestorationReport[] {
    const rows = this.#all("SELECT * FROM reports WHERE conversation = ? ORDER BY id", conversation);
    return rows.map(({ id, leaf, message, files }) => ({
      id: Number(id),
      leaf: String(leaf),
      message: String(message),
      files: JSON.parse(String(files)) as FileChange[],
    }));
  }

  /** Returns whether no other report waits. */
  removeReport(id: number): boolean {
    this.#run("DELETE FROM reports WHERE id = ?", id);
    return !this.hasReports;
  }

  get hasReports(): boolean {
    return this.#one("SELECT id FROM reports LIMIT 1") !== undefined;
  }

  /** Removes moments, and everything that only they need. Returns the freed space to the disk. */
  async forget(where: "conversation = ?" | "at < ?" | "id <= ?", value: string | number): Promise<void> {
    await this.transaction(() => {
      this.#run(`DELETE FROM moments WHERE ${where}`, value);
      this.#run(
        "DELETE FROM entries WHERE until IS NOT NULL AND NOT EXISTS (SELECT 1 FROM moments WHERE moments.id >= since AND moments.id < until)",
      );
      this.#run("DELETE FROM reports WHERE conversation NOT IN (SELECT conversation FROM moments)");
      this.#run("DELETE FROM contents WHERE NOT EXISTS (SELECT 1 FROM entries WHERE content = contents.id)");
    });
    this.#database.exec("PRAGMA incremental_vacuum");
  }

  /** Returns the conversations with moments, and their latest moments in milliseconds since 1970. */
  conversations(): Map<string, number> {
    const rows = this.#all("SELECT conversation, max(at) AS at FROM moments GROUP BY conversation");
    return new Map(rows.map(({ conversation, at }) => [String(conversation), Number(at)]));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #prepared(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).lastInsertRowid);
  }

  #one(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values);
  }

  #all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values);
  }
}

type Row = NonNullable<ReturnType<StatementSync["get"]>>;

function entryOf(row: Row): Entry {
  const { inode, size, modified, changed, fresh } = row as unknown as Record<string, number>;
  const { id, path, since, kind, mode, content, ignored } = row as unknown as Entry & { readonly ignored: number };
  const stamp = { inode, size, modified, changed, isFresh: fresh === 1 } as FileStamp;
  return { id, path, since, kind, mode, content, isIgnored: ignored === 1, stamp };
}
