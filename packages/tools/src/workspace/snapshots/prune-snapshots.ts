import { lstat, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { WorkspaceError } from "../files/error.ts";

/** Limits of age and size of the snapshots of each workspace. See {@link pruneSnapshots}. */
export interface SnapshotAge {
  readonly days: number;
  /** Maximum bytes of the contents of a workspace. */
  readonly bytes: number;
}

/**
 * Removes snapshots of old moments and of removed conversations from all stores in a folder, at most once a day. Also
 * removes the oldest moments of a store that is too large. `isRemoved` tells whether a conversation no longer exists.
 * Skips stores that cannot be used.
 * @example await pruneSnapshots("/home/me/snapshots", { days: 30, bytes: 1_000_000_000 }, async () => false);
 */
export async function pruneSnapshots(
  folder: string,
  { days, bytes }: SnapshotAge,
  isRemoved: (conversation: string) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  if (names.length === 0 || !(await isNewDay(folder))) return;
  for (const name of names.filter((each) => each.endsWith(".sqlite"))) {
    if (signal?.aborted) return;
    try {
      await pruneFile(join(folder, name), { days, bytes }, isRemoved);
    } catch (error) {
      // The next run tries again.
      if (!(error instanceof WorkspaceError)) throw error;
    }
  }
}

const DAY = 86_400_000;
/** Milliseconds for which a conversation may not be stored yet. */
const YOUNG = 3_600_000;

async function pruneFile(
  path: string,
  { days, bytes }: SnapshotAge,
  isRemoved: (conversation: string) => Promise<boolean>,
): Promise<void> {
  const { SnapshotFile } = await import("./snapshot-file.ts");
  using file = await SnapshotFile.open(path);
  if (file.pending().length > 0) return;
  for (const [conversation, at] of file.conversations())
    if (Date.now() - at > YOUNG && (await isRemoved(conversation))) await file.forget("conversation = ?", conversation);
  await file.forget("at < ?", Date.now() - days * DAY);
  while (file.size > bytes) {
    const moments = file.moments({ after: 0 });
    const middle = moments[Math.floor(moments.length / 2)];
    if (!middle || Date.now() - middle.at < DAY) break;
    await file.forget("id <= ?", middle.id);
  }
  if (file.conversations().size > 0) return;
  // The log first: a new database of this name would have a log of this name.
  for (const part of ["-wal", ""]) await rm(`${path}${part}`, { force: true });
}

/** Returns whether the last removal was a day ago or earlier, and remembers this one. */
async function isNewDay(folder: string): Promise<boolean> {
  const file = join(folder, "pruned");
  const last = await lstat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  if (Date.now() - last < DAY) return false;
  // Without the file, the next start removes again.
  await writeFile(file, "", { mode: 0o600 }).catch(() => {});
  return true;
}
