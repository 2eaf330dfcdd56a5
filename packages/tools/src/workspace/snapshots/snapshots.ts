import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FileChange } from "@banyan/core/conversation";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { errorMessage } from "@banyan/core/shown";
import { contentDigest } from "../files/backups.ts";
import { systemCode, WorkspaceError } from "../files/error.ts";
import type { Workspace } from "../files/paths.ts";
import { BOUNDS, type LeftOut, type MomentRecord, type SnapshotBounds } from "./coverage.ts";
import {
  canRestore,
  changeBetween,
  changedBy,
  isSameEntry,
  kindForUsers,
  momentsAfter,
  originOfState,
  type RewindFile,
  type RewindPlan,
  type RewindResult,
  type RewindScope,
  realDifferences,
} from "./differences.ts";
import { KnownEntries } from "./known-entries.ts";
import type { ScanOptions } from "./scan.ts";
import type {
  Entry,
  Moment,
  MomentPhase,
  Occasion,
  PendingRestoration,
  RestorationReport,
  SnapshotFile,
} from "./snapshot-file.ts";
import { coveringPaths, folderOf } from "./tree-paths.ts";

/** The place of a workspace's snapshots. See {@link WorkspaceSnapshots}. */
export interface SnapshotOptions {
  /** The folder of all content stores, outside of the workspace. Created on demand, readable only by the owner. */
  readonly folder: string;
  /** Smaller limits than the default ones. */
  readonly bounds?: Partial<SnapshotBounds>;
}

const OPTIONS: OptionNames<SnapshotOptions> = { folder: "string!", bounds: true };
const BOUND_NAMES: OptionNames<SnapshotBounds> = {
  file: "number",
  ignored: "number",
  all: "number",
  entries: "number",
};

/**
 * Snapshots of a workspace's files, for going back to an earlier state. They are made before calls that may change
 * files, in a content store outside of the workspace. They never touch `.git`.
 * @example
 * const snapshots = new WorkspaceSnapshots(workspace, { folder: "/home/me/snapshots" });
 * const agent = new Agent({ model, tools: snapshotTools(snapshots, workspaceTools({ root: "." })) });
 * const [first] = await snapshots.moments(session.id);
 * const scope = { conversation: session.id, isOwn: () => true };
 * if (first) await snapshots.restore(await snapshots.compare(first.id, scope), scope);
 */
export class WorkspaceSnapshots {
  readonly workspace: Workspace;
  readonly #file: string;
  /** The path of a file that exists while a restoration is unfinished or unreported. Without it, no store is opened. */
  readonly #mark: string;
  /** Sentences about completed restorations. */
  readonly #settled: string[] = [];
  readonly #bounds: SnapshotBounds;
  #known: { readonly revision: number; readonly entries: KnownEntries } | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** The workspace is too large: looking at it before each call would take long. */
  #refusal: { readonly error: WorkspaceError; readonly until: number } | undefined;
  /** By conversation: the message whose step already has a snapshot, and the paths with contents. */
  readonly #steps = new Map<string, { readonly message: string; readonly keep: ScanOptions["keep"] }>();

  constructor(workspace: Workspace, options: SnapshotOptions) {
    refuseUnknown("WorkspaceSnapshots", options, OPTIONS);
    refuseUnknown("WorkspaceSnapshots", options.bounds, BOUND_NAMES, "bounds.");
    this.workspace = workspace;
    this.#file = join(options.folder, `${contentDigest(Buffer.from(workspace.root)).slice(0, 32)}.sqlite`);
    this.#mark = `${this.#file}${MARK}`;
    this.#bounds = { ...BOUNDS, ...options.bounds };
  }

  /** Returns whether a store in a folder may have an unfinished or unreported restoration. Opens no store. */
  static haveUnreported(folder: string): boolean {
    return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith(MARK));
  }

  /**
   * Records the state before a call that may change files: once for each step, unless a later call needs more contents.
   * `keep`: the paths that the call changes, or all. Rejects with a `WorkspaceError`.
   */
  async before(occasion: Occasion, keep: ScanOptions["keep"], isBusy = false): Promise<void> {
    const step = this.#steps.get(occasion.conversation);
    if (step?.message === occasion.message && includesPaths(step.keep, keep)) return;
    await this.#unlessTooLarge((file) => this.#record(file, isBusy ? "process" : "before", occasion, { keep }));
    this.#steps.set(occasion.conversation, { message: occasion.message, keep });
  }

  /**
   * Records the state after a call. `only`: the paths that the call changed; absent: any. Resolves with the number of
   * changed files and links.
   */
  async after(occasion: Occasion, only?: readonly string[]): Promise<number> {
    if (only?.length === 0) return 0;
    return this.#inFile(async (file) => {
      const how = { keep: only ? new Set(only) : "all", only } as const;
      return (await this.#record(file, "after", occasion, how)).changedFiles;
    });
  }

  /**
   * Like `after`, for a call that could change all paths except `unkept` (S37). Also lets the owner read folders that the
   * call closed, and gives new repositories, and names that are no text, names that snapshots keep. Resolves with
   * sentences about them too. Rejects with a `WorkspaceError` if a rewind could not restore all files.
   */
  async afterLimited(
    occasion: Occasion,
    unkept: readonly string[],
  ): Promise<{ readonly changedFiles: number; readonly notices: readonly string[] }> {
    const { keepMade } = await import("./put-aside.ts");
    return this.#inFile((file) =>
      keepMade(this.workspace, unkept, () =>
        this.#record(file, "after", occasion, { keep: "all", opens: true, isBounded: false }),
      ),
    );
  }

  /** Returns the parts of the workspace that a snapshot would not keep now. Rejects with a `WorkspaceError`. */
  async leftOut(conversation: string, isBusy = false): Promise<readonly LeftOut[]> {
    const occasion = { conversation, message: "", call: "" };
    const look = { keep: new Set<string>() };
    return (await this.#unlessTooLarge((file) => this.#record(file, isBusy ? "process" : "look", occasion, look)))
      .leftOut;
  }

  /**
   * Keeps the present contents. Returns the absolute paths that a command must not change, so that a rewind restores all
   * its changes (S37): left-out files except caches, repositories, and files with another name. Many paths in one folder
   * become the folder. Rejects with a `WorkspaceError` if the whole workspace is among them.
   */
  async unkept(conversation: string, isBusy = false): Promise<readonly string[]> {
    const occasion = { conversation, message: "", call: "" };
    const { leftOut, untouched } = await this.#unlessTooLarge((file) =>
      this.#record(file, isBusy ? "process" : "look", occasion, { keep: "all" }),
    );
    const left = leftOut.filter(({ why }) => why !== "cache");
    // A name that is no text cannot be passed to another program.
    const paths = left.map(({ path, why }) => (why === "name" ? folderOf(path) : path));
    const covering = coveringPaths([...paths, ...untouched], MOST_UNKEPT);
    if (covering.includes(""))
      throw new WorkspaceError(
        "root",
        "Snapshots are not possible: the workspace has too many files that are too large, or too many files in all.",
      );
    return covering.map((path) => join(this.workspace.root, path));
  }

  /** Returns the moments of a conversation in order; empty without snapshots. */
  async moments(conversation: string): Promise<readonly Moment[]> {
    if (!existsSync(this.#file)) return [];
    return this.#inFile((file) => file.moments({ conversation }));
  }

  /** Compares a moment with the files as they are. Changes nothing. Rejects with a `WorkspaceError`. */
  async compare(to: number, { conversation, isOwn, isBusy, watch }: RewindScope): Promise<RewindPlan> {
    return this.#inFile(async (file) => {
      requireMoment(file, to);
      const occasion = { conversation, message: "", call: "" };
      const look = { keep: new Set<string>(), isBounded: false };
      const { leftOut, moment } = await this.#record(file, isBusy ? "process" : "look", occasion, look);
      const moments = momentsAfter(file, to);
      const files: RewindFile[] = [];
      for (const difference of realDifferences(file, to)) {
        const by = changedBy(difference, moments, isOwn);
        const change = await changeBetween(file, difference.past, difference.now, {
          watch,
          hasDiff: files.length < MOST_DIFFS,
        });
        const found = difference.found.flatMap((id) => moments.get(id) ?? []);
        const origin = originOfState(file, difference, moments);
        const about = { entry: kindForUsers(difference), by, found, origin, canRestore: canRestore(difference) };
        files.push({ ...change, ...about });
      }
      return { to, asOf: moment, files, leftOut };
    });
  }

  /**
   * Restores the state of a moment: of `paths`, or of all paths. Files that others changed since the comparison stay as
   * they are. A kill leaves a record, and the next use of the store completes the restoration. With `report`, `reports`
   * returns the restored files until `reported`.
   */
  async restore(
    { to, asOf }: Pick<RewindPlan, "to" | "asOf">,
    { conversation, isOwn, isBusy, watch }: RewindScope,
    paths?: ReadonlySet<string>,
    report?: Pick<RestorationReport, "leaf" | "message">,
  ): Promise<RewindResult> {
    const occasion = { conversation, message: "", call: "" };
    const restoration = { ...occasion, call: String(to) };
    return this.#inFile(async (file) => {
      requireMoment(file, to);
      // Always a moment of this conversation, so that it can be restored as long as the conversation exists.
      const look = { keep: new Set<string>(), isNeeded: true, isBounded: false };
      const { moment: undo } = await this.#record(file, isBusy ? "process" : "look", occasion, look);
      const later = momentsAfter(file, asOf);
      const problems: string[] = [];
      const chosen = realDifferences(file, to).filter(({ path }) => paths?.has(path) ?? true);
      const steps: PendingRestoration[] = [];
      const files: FileChange[] = [];
      for (const difference of chosen) {
        const { path, found, now, past: target } = difference;
        const isLater = found.some((id) => id > asOf);
        if (isLater && changedBy(difference, later, isOwn) !== "agent")
          problems.push(`${path} was changed meanwhile, so it was not restored.`);
        else if (!canRestore(difference))
          problems.push(`The earlier content of ${path} was not kept, so it was not restored.`);
        else {
          steps.push({ path, target, now });
          files.push(await changeBetween(file, now, target, { watch, hasDiff: true }));
        }
      }
      writeFileSync(this.#mark, "", { mode: 0o600 });
      await file.transaction(() => {
        file.setPending(steps, conversation);
        if (report && steps.length > 0) file.addReport(conversation, { ...report, files });
      }, true);
      problems.push(...(await this.#finish(file, restoration, "new")));
      if (!file.hasReports) rmSync(this.#mark, { force: true });
      const left = new Set(realDifferences(file, to).map(({ path }) => path));
      return { files: files.filter(({ path }) => !left.has(path)), problems, undo };
    });
  }

  /** Returns the completed restorations of a conversation that are not reported, in order. */
  async reports(conversation: string): Promise<readonly RestorationReport[]> {
    return existsSync(this.#mark) ? this.#inFile((file) => file.reports(conversation)) : [];
  }

  async reported({ id }: RestorationReport): Promise<void> {
    await this.#inFile(async (file) => {
      if (await file.transaction(() => file.removeReport(id))) rmSync(this.#mark, { force: true });
    });
  }

  /** Completes a restoration that a dead process left. Resolves with a sentence about it, if there was one. */
  async settle(): Promise<readonly string[]> {
    if (!existsSync(this.#mark)) return [];
    this.#settled.length = 0;
    await this.#inFile((file) => file.hasReports || rmSync(this.#mark, { force: true }));
    return this.#settled.splice(0);
  }

  /** Like `#inFile`, but refuses at once if the workspace was too large a short time ago. */
  async #unlessTooLarge<Result>(work: (file: SnapshotFile) => Promise<Result>): Promise<Result> {
    if (this.#refusal && Date.now() < this.#refusal.until) throw this.#refusal.error;
    try {
      return await this.#inFile(work);
    } catch (error) {
      if (error instanceof WorkspaceError && error.code === "root")
        this.#refusal = { error, until: Date.now() + AGAIN };
      throw error;
    }
  }

  /** Runs work with the store, after earlier work and alone. */
  #inFile<Result>(work: (file: SnapshotFile) => Promise<Result> | Result): Promise<Result> {
    const running = this.#last.then(async () => {
      // Programs that make no snapshots do not load these modules.
      const { SnapshotFile } = await import("./snapshot-file.ts");
      using file = await SnapshotFile.open(this.#file);
      try {
        if (file.pending().length > 0) await this.#continue(file);
        return await work(file);
      } catch (error) {
        // A rolled back transaction may have changed them.
        this.#known = undefined;
        throw error instanceof WorkspaceError || systemCode(error) === undefined ? error : notUsable(this.#file, error);
      }
    });
    this.#last = running.catch(() => {
      // The caller gets the error.
    });
    return running;
  }

  async #continue(file: SnapshotFile): Promise<void> {
    const steps = file.pending();
    const { removeTemporaries } = await import("./put-back.ts");
    await removeTemporaries(this.workspace, steps);
    const occasion = { conversation: file.pendingConversation, message: "", call: "" };
    const problems = await this.#finish(file, occasion, "old");
    const paths = new Intl.ListFormat("en").format(steps.slice(0, 3).map(({ path }) => path));
    const more = steps.length > 3 ? ` and ${steps.length - 3} more` : "";
    this.#settled.push(
      [`A process ended while it restored ${paths}${more}. Banyan has completed the restoration.`, ...problems].join(
        " ",
      ),
    );
  }

  /** Carries out the recorded restoration. A new one has changed nothing before. */
  async #finish(file: SnapshotFile, occasion: Occasion, which: "new" | "old"): Promise<string[]> {
    const steps = file.pending();
    if (steps.length === 0) return [];
    const { NoRoomError, putBack } = await import("./put-back.ts");
    const problems = await putBack(this.workspace, file, steps).catch(async (error: unknown) => {
      // The files are as they were, so there is nothing to complete.
      if (which === "new" && error instanceof NoRoomError) await file.transaction(() => file.endPending(new Set()));
      throw error;
    });
    const paths = steps.map(({ path }) => path);
    await this.#record(file, "rewind", occasion, { keep: new Set(paths), only: paths }, (now) => {
      const restored = steps.filter(({ path, target }) => isSameEntry(target, now.get(path)));
      file.endPending(new Set(restored.map(({ path }) => path)));
    });
    return problems;
  }

  async #record(
    file: SnapshotFile,
    phase: MomentPhase,
    occasion: Occasion,
    { isNeeded = false, isBounded = true, ...how }: RecordOptions,
    also: (now: KnownEntries) => void = () => {},
  ): Promise<MomentRecord> {
    const known = this.#known?.revision === file.revision ? this.#known.entries : new KnownEntries(file.current());
    const { WorkspaceScan } = await import("./scan.ts");
    const done = await file.transaction(async () => {
      const bounds = isBounded ? this.#bounds : { ...this.#bounds, entries: Infinity };
      const scan = new WorkspaceScan({ workspace: this.workspace, file, bounds, known, ...how });
      await scan.run();
      // A look that finds nothing new needs no moment.
      const isSame = phase === "look" && !isNeeded && scan.changes.length === 0;
      const moment = isSame ? file.lastMoment : file.addMoment(phase, occasion);
      for (const { before, after } of scan.changes) {
        if (before) file.end(before, moment);
        if (after) known.set(file.begin({ ...after, since: moment }));
        else if (before) known.delete(before.path);
      }
      also(known);
      const changedFiles = scan.changes.filter(({ before, after }) => isFile(after ?? before)).length;
      return { moment, leftOut: scan.leftOut, untouched: scan.untouched, changedFiles };
    });
    this.#known = { revision: file.revision, entries: known };
    return done;
  }
}

interface RecordOptions extends Pick<ScanOptions, "keep" | "only" | "opens"> {
  /** True to record a moment even if nothing changed. Default: false. */
  readonly isNeeded?: boolean;
  /** False to look at more files than the limit: a rewind must find them. Default: true. */
  readonly isBounded?: boolean;
}

const MARK = ".restoring";
/** Maximum number of paths that a command must not change. Each path costs mounts in a sandbox. */
const MOST_UNKEPT = 100;
/** Maximum number of files with a diff in a comparison. */
const MOST_DIFFS = 200;
/** Milliseconds until a workspace that was too large is looked at again. */
const AGAIN = 600_000;

function isFile(entry: Pick<Entry, "kind"> | undefined): boolean {
  return entry?.kind === "file" || entry?.kind === "link";
}

function notUsable(file: string, cause: unknown): WorkspaceError {
  return new WorkspaceError("system", `The snapshots in ${file} cannot be used (${errorMessage(cause)}).`, { cause });
}

/** Throws if a moment was removed: some states of files at this moment may be removed too. */
function requireMoment(file: SnapshotFile, moment: number): void {
  if (!file.hasMoment(moment))
    throw new WorkspaceError("missing", "The snapshot of these files is no longer kept, so they cannot be restored.");
}

function includesPaths(one: ScanOptions["keep"], other: ScanOptions["keep"]): boolean {
  return one === "all" || (other !== "all" && other.isSubsetOf(one));
}
