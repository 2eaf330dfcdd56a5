import { lstat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import type { Message, UserMessage } from "@banyan/core";
import { type FileChange, type SeenFile, worktreeAt } from "@banyan/core/conversation";
import type { PreviewContext } from "@banyan/core/hosts";
import { attachedText } from "@banyan/core/shown";
import { digestOf, keepContent } from "./backups.ts";
import { systemCode, WorkspaceError } from "./error.ts";
import { meantPath } from "./named-path.ts";
import { type OpenFile, openFile } from "./open-path.ts";
import type { Workspace } from "./paths.ts";

/** Bytes of a file above which it is not compared: a read of a few lines should not cost a read of all. */
const MOST_COMPARED = 16 * 1024 * 1024;

/** Digests of files by their paths from the root; `null` for a file that was not there. */
type SeenFiles = ReadonlyMap<string, string | null>;

type Where = Pick<PreviewContext, "conversation" | "path">;

/**
 * Returns what a branch last saw of files (F78): what its messages and calls read, and what its calls left, those of its
 * sub-agents included. A change does not count as seen where it was made to a content that the branch had not seen, so that
 * an `edit` beside the lines of somebody else does not stand for reading those. It is read from the log, so a restart, a fork
 * and a summary change nothing.
 */
function seenBy(workspace: Workspace, { conversation, path }: Where): SeenFiles {
  const seen = new Map<string, string | null>();
  // A program that calls a tool by itself, without an engine, may give neither.
  if (!conversation || !path) return seen;
  const look = ({ path: file, digest }: SeenFile) => {
    seen.set(file, digest);
  };
  const change = ({ path: file, before, after }: FileChange) => {
    if (!seen.has(file) || seen.get(file) === before) seen.set(file, after);
  };
  const launched = Map.groupBy(conversation.messages.values(), ({ call }) => call);
  const here = worktreeAt(conversation, path.at(-1)?.id);
  const walk = (messages: Iterable<Message>, onlyChanges: boolean) => {
    for (const { id } of messages) {
      const message = conversation.messages.get(id);
      if (message?.role === "user" && !onlyChanges) attachedTo(message, workspace).forEach(look);
      if (message?.role !== "assistant") continue;
      for (const call of message.calls) {
        if (!onlyChanges) call.seen?.forEach(look);
        const below = launched.get(call.id) ?? [];
        // What a sub-agent did in a worktree of its own is not here.
        if (worktreeAt(conversation, below[0]?.id) === here) walk(below, true);
        call.changes?.forEach(change);
      }
    }
  };
  walk(path, false);
  return seen;
}

/** Files whose content a user put behind a message (B46). The text is what the file held, unless a secret was taken out of it. */
function attachedTo({ parts }: Pick<UserMessage, "parts">, workspace: Workspace): SeenFile[] {
  return parts.flatMap((part) => {
    const attached = part.type === "text" ? attachedText(part.text) : undefined;
    if (attached?.kind !== "file") return [];
    const { name, content, encoding } = attached;
    try {
      const path = relative(workspace.root, resolve(workspace.root, meantPath(name, workspace)));
      return [{ path: path.split(sep).join("/"), digest: digestOf(bytesOf(content, encoding)) }];
    } catch {
      // The text only looks like a file that goes along.
      return [];
    }
  });
}

/** The bytes of a file whose text went along with a message. */
function bytesOf(content: string, encoding: string | undefined): Buffer {
  if (encoding === undefined) return Buffer.from(content);
  const bytes = Buffer.from(content, "utf16le");
  return encoding === "utf-16be" ? bytes.swap16() : bytes;
}

/** Throws when a file is not what its branch last saw; `digest` is that of its content now, `null` for no file. */
export function assertAsSeen(workspace: Workspace, path: string, digest: string | null, where: Where): void {
  if (digest === null || isAsSeen(workspace, path, digest, where)) return;
  throw new WorkspaceError(
    "changed",
    `${path} changed since you read it, so it was not replaced. Read it again first, or change one place in it with edit.`,
  );
}

/** Whether a file is what its branch last saw. A file that the branch never saw is. */
export function isAsSeen(workspace: Workspace, path: string, digest: string, where: Where): boolean {
  const last = seenBy(workspace, where).get(path);
  return last === undefined || last === digest;
}

/**
 * Does something that may change files, such as a command, and logs what it left of the files that the branch had seen as they
 * were before it. What somebody else changes in these meanwhile counts as done by it.
 */
export async function whileSeen<Result>(
  workspace: Workspace,
  context: Where & { saw(file: SeenFile): void },
  work: () => Promise<Result>,
): Promise<Result> {
  const before = new Map<string, string>();
  for (const [path, digest] of seenBy(workspace, context)) {
    const mark = await markOf(workspace, path);
    if ((await digestAt(workspace, path, mark)) === digest) before.set(path, mark);
  }
  try {
    return await work();
  } finally {
    for (const [path, mark] of before) {
      const now = await markOf(workspace, path);
      const digest = now === mark ? undefined : await digestAt(workspace, path, now);
      if (digest !== undefined) context.saw({ path, digest });
    }
  }
}

/** Digests that were worked out, by root, path and mark; the oldest go first. */
const known = new Map<string, string>();
const MOST_KNOWN = 10_000;

/** The digest of a file, `null` for none; undefined when it cannot be read. `mark` is its mark now. */
async function digestAt(workspace: Workspace, path: string, mark: string): Promise<string | null | undefined> {
  if (mark === GONE) return null;
  const key = `${workspace.root}\0${path}\0${mark}`;
  const digest = known.get(key) ?? (await readDigest(workspace, path));
  if (digest !== undefined) known.set(key, digest);
  for (const oldest of known.keys()) {
    if (known.size <= MOST_KNOWN) break;
    known.delete(oldest);
  }
  return digest;
}

async function readDigest(workspace: Workspace, path: string): Promise<string | undefined> {
  try {
    await using file = await openFile(workspace, path);
    return await digestOfOpen(file);
  } catch (error) {
    // It became a folder, or a rule closes it now: the next write says so.
    if (error instanceof WorkspaceError) return undefined;
    throw error;
  }
}

/** The digest of a file since it was opened; undefined when it is too large, or has changed since. */
export async function digestOfOpen({ handle, stats }: OpenFile): Promise<string | undefined> {
  if (stats.size > MOST_COMPARED) return undefined;
  const digest = await keepContent(undefined, handle.createReadStream({ start: 0, autoClose: false }));
  const { size, mtimeMs } = await handle.stat();
  return size === stats.size && mtimeMs === stats.mtimeMs ? digest : undefined;
}

const GONE = "gone";

/** Differs once a file was written, replaced or removed. Only whether it differs counts, so links need no care. */
async function markOf({ root }: Workspace, path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await lstat(join(root, path), { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(":");
  } catch (error) {
    return systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR" ? GONE : "unknown";
  }
}
