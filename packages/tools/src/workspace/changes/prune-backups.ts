import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { refuseUnknown } from "@banyan/core/conversation";

const DAY = 86_400_000;

/**
 * The limits of age and size for backups: previous contents of files, which are kept for undo.
 * See {@link pruneBackups}.
 */
export interface BackupBounds {
  /** Maximum age, in days since a content was last kept. */
  readonly days: number;
  /** Maximum bytes of all contents together. */
  readonly bytes: number;
}

/**
 * Removes backups that are older than the limit. Then removes the oldest backups until the rest fits. Backups of the
 * last day always stay. Skips other files, and files that cannot be removed. Stops after an abort. Never rejects.
 * @example await pruneBackups("/home/me/backups", { days: 30, bytes: 1_000_000_000 });
 */
export async function pruneBackups(backups: string, bounds: BackupBounds, signal?: AbortSignal): Promise<void> {
  refuseUnknown("pruneBackups", bounds, { days: true, bytes: true });
  const kept = await contentsOf(backups, signal);
  const now = Date.now();
  let bytes = kept.reduce((sum, { size }) => sum + size, 0);
  for (const { path, size, at, isWhole } of kept.sort((a, b) => a.at - b.at)) {
    if (signal?.aborted || now - at < DAY) return;
    if (isWhole && now - at <= bounds.days * DAY && bytes <= bounds.bytes) continue;
    await rm(path, { force: true }).catch(() => {
      // The next run tries again.
    });
    bytes -= size;
  }
}

interface BackupContent {
  readonly path: string;
  readonly size: number;
  /** The last time that the content was kept, in milliseconds since 1970. */
  readonly at: number;
  /** False for a file whose process ended while writing it. */
  readonly isWhole: boolean;
}

async function contentsOf(backups: string, signal: AbortSignal | undefined): Promise<BackupContent[]> {
  const names = await readdir(backups).catch(() => []);
  const contents: BackupContent[] = [];
  for (const name of names) {
    if (signal?.aborted) break;
    const isWhole = /^[0-9a-f]{64}$/.test(name);
    if (!isWhole && !/^\.[0-9a-f-]{36}\.tmp$/.test(name)) continue;
    const path = join(backups, name);
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isFile()) contents.push({ path, size: stats.size, at: stats.mtimeMs, isWhole });
  }
  return contents;
}
