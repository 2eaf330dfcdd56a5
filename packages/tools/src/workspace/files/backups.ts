import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemCode, WorkspaceError } from "./error.ts";

/**
 * Keeps a previous content of a file for undo, in a file named by the SHA-256 of its bytes. Only the owner can read the
 * folder `backups` (S13). Resolves with the digest in hexadecimal once the content would survive a power cut. Without
 * `backups`, only computes the digest. Throws a `WorkspaceError` if the content cannot be kept.
 */
export async function keepBackup(
  backups: string | undefined,
  content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<string> {
  const hash = createHash("sha256");
  if (backups === undefined) {
    for await (const piece of content) hash.update(piece);
    return hash.digest("hex");
  }
  const temporary = join(backups, `.${randomUUID()}.tmp`);
  try {
    await mkdir(backups, { recursive: true, mode: 0o700 });
    const handle = await open(temporary, "wx", 0o600);
    try {
      for await (const piece of content) {
        hash.update(piece);
        await handle.appendFile(piece);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    const digest = hash.digest("hex");
    await rename(temporary, join(backups, digest));
    return digest;
  } catch (error) {
    // The first error is the important one.
    await rm(temporary, { force: true }).catch(() => {});
    if (error instanceof WorkspaceError) throw error;
    throw notKept(backups, error);
  }
}

function notKept(backups: string, cause: unknown): WorkspaceError {
  const reason = systemCode(cause) ?? String(cause);
  return new WorkspaceError(
    "system",
    `The previous content could not be saved in ${backups} (${reason}), so nothing was changed.`,
    { cause },
  );
}

/** Returns a content that `keepBackup` kept. Throws a `WorkspaceError` if it is missing or damaged. */
export async function keptContent(backups: string, digest: string): Promise<Buffer> {
  let bytes: Buffer | undefined;
  try {
    if (/^[0-9a-f]{64}$/.test(digest)) bytes = await readFile(join(backups, digest));
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
  if (bytes !== undefined && contentDigest(bytes) === digest) return bytes;
  const what = bytes === undefined ? "is not kept any more" : "was damaged";
  throw new WorkspaceError(
    "missing",
    `The previous content ${digest.slice(0, 12)} ${what} in ${backups}, so it cannot be restored.`,
  );
}

/** Returns the SHA-256 of bytes in hexadecimal. */
export function contentDigest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
