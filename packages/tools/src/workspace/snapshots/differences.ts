import type { FileChange } from "@banyan/core/conversation";
import { fileChange, fileContent } from "../changes/file-change.ts";
import type { KeyWatch } from "../files/key-file.ts";
import type { LeftOut } from "./coverage.ts";
import type { Entry, EntryDifference, Moment, SnapshotFile } from "./snapshot-file.ts";

/** A change since a moment, which a rewind takes back. See {@link WorkspaceSnapshots}. */
export interface RewindFile extends FileChange {
  readonly entry: "file" | "link" | "folder";
  /**
   * The parties that changed the path since then. `agent`: calls of the rewound messages, or background commands. `others`: a user,
   * another program, or another branch or conversation. `both`: a rewind would also lose a change of others.
   */
  readonly by: "agent" | "others" | "both";
  /** The moments since then at which a change of the path was found. */
  readonly found: readonly Moment[];
  /** The moment at which the present state was found first. After a restoration, this is a moment before it. */
  readonly origin: number;
  /** False if the earlier content is not kept, or belongs to a cache folder. */
  readonly canRestore: boolean;
}

/** The conversation and messages whose changes a rewind takes back. See {@link WorkspaceSnapshots}. */
export interface RewindScope {
  readonly conversation: string;
  /** Returns whether the messages to rewind, or their commands, made the changes that were found at a moment. */
  isOwn(moment: Moment): boolean;
  /**
   * True while background commands of the conversation run. A change since the last snapshot then counts as a change of
   * these commands.
   */
  readonly isBusy?: boolean | undefined;
  /** Receives the whole contents of files whose diffs show only a part (S22). */
  readonly watch?: KeyWatch | undefined;
}

/** The differences between a moment and now. See {@link WorkspaceSnapshots}. */
export interface RewindPlan {
  /** The moment to restore. */
  readonly to: number;
  /** The moment of this comparison. A restoration leaves files that changed later. */
  readonly asOf: number;
  readonly files: readonly RewindFile[];
  /** Parts of the workspace that a rewind cannot restore. */
  readonly leftOut: readonly LeftOut[];
}

/** The result of a restoration. See {@link WorkspaceSnapshots}. */
export interface RewindResult {
  readonly files: readonly FileChange[];
  /** A sentence for each path that was not restored. */
  readonly problems: readonly string[];
  /** The snapshot before the restoration. To undo the restoration, restore this snapshot. */
  readonly undo: number;
}

export function momentsAfter(file: SnapshotFile, moment: number): ReadonlyMap<number, Moment> {
  return new Map(file.moments({ after: moment }).map((each) => [each.id, each]));
}

/** Leaves out paths that are again as they were. */
export function realDifferences(file: SnapshotFile, to: number): EntryDifference[] {
  return file.differences(to).filter(({ past, now }) => !isSameEntry(past, now));
}

const WITHOUT_CONTENT: ReadonlySet<Entry["kind"]> = new Set(["folder", "cache", "special"]);

export function isSameEntry(past: Entry | undefined, now: Entry | undefined): boolean {
  if (!past || !now) return past === now;
  if (past.kind !== now.kind || past.mode !== now.mode) return false;
  return WITHOUT_CONTENT.has(past.kind) || (past.content !== null && past.content === now.content);
}

export function kindForUsers({ past, now }: EntryDifference): RewindFile["entry"] {
  const kind = now?.kind ?? past?.kind;
  if (kind === "special") return "file";
  return kind === "file" || kind === "link" ? kind : "folder";
}

export function canRestore({ past, now }: EntryDifference): boolean {
  if (past?.kind === "cache" || now?.kind === "cache" || past?.kind === "special") return false;
  return past === undefined || past.kind === "folder" || past.content !== null || isModeOnly(past, now);
}

function isModeOnly(past: Entry, now: Entry | undefined): boolean {
  return now?.kind === past.kind && now.content === past.content && now.stamp.modified === past.stamp.modified;
}

export function changedBy(
  { found }: EntryDifference,
  moments: ReadonlyMap<number, Moment>,
  isOwn: (moment: Moment) => boolean,
): RewindFile["by"] {
  const known = found.flatMap((id) => moments.get(id) ?? []);
  const own = known.filter((moment) => moment.phase !== "before" && moment.phase !== "look" && isOwn(moment));
  if (own.length === 0) return "others";
  return own.length === known.length ? "agent" : "both";
}

/**
 * Returns the moment at which the present state of a path was found first. A restoration brings back the state of an
 * earlier moment, and names that moment as its call. `moments`: the moments to consider.
 */
export function originOfState(
  file: SnapshotFile,
  { path, found }: EntryDifference,
  moments: ReadonlyMap<number, Moment>,
): number {
  let since = Math.max(0, ...found);
  const changes = moments.get(since)?.phase === "rewind" ? file.changesOf(path) : [];
  for (let moment = moments.get(since); moment?.phase === "rewind"; moment = moments.get(since)) {
    // A restoration that another process completed names no moment.
    if (moment.call === "") break;
    since = changes.findLast((change) => change <= Number(moment?.call)) ?? 0;
  }
  return since;
}

export async function changeBetween(
  file: SnapshotFile,
  before: Entry | undefined,
  after: Entry | undefined,
  { watch, hasDiff }: Pick<RewindScope, "watch"> & { readonly hasDiff: boolean },
): Promise<FileChange> {
  const content = async (entry: Entry | undefined) => {
    if (!entry) return undefined;
    // Folders have no content, and an unknown content differs from any other.
    if (entry.content === null) return { digest: entry.kind === "folder" ? entry.kind : `unknown ${entry.id}` };
    const content = fileContent(await file.content(entry.content));
    watch?.()(content.text ?? "");
    return content;
  };
  const [from, to] = [gitMode(before), gitMode(after)];
  return fileChange((before ?? after)?.path ?? "", await content(before), await content(after), {
    ...(from !== to && { mode: { before: from, after: to } }),
    ...(!hasDiff && { most: 0 }),
  });
}

function gitMode(entry: Entry | undefined): string | null {
  if (!entry) return null;
  if (entry.kind === "link") return "120000";
  return `${entry.kind === "file" || entry.kind === "special" ? "100" : "040"}${entry.mode.toString(8).padStart(3, "0")}`;
}
