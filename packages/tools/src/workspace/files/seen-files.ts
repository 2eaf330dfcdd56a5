import { lstat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import type { Message, UserMessage } from "@banyan/core";
import { type FileChange, type SeenFile, worktreeAt } from "@banyan/core/conversation";
import type { PreviewContext } from "@banyan/core/hosts";
import { attachedText } from "@banyan/core/shown";
import { contentDigest, keepBackup } from "./backups.ts";
import { systemCode, WorkspaceError } from "./error.ts";
import { meantPath } from "./named-path.ts";
import { type OpenRegularFile, openFile } from "./open-path.ts";
import type { Workspace } from "./paths.ts";

/** The largest file to compare, in bytes: reading a few lines must not require reading the whole file. */
const MOST_COMPARED = 16 * 1024 * 1024;

/** Digests of files by their paths relative to the root; `null`: no file. */
type SeenFiles = ReadonlyMap<string, string | null>;

type SeenFileScope = Pick<PreviewContext, "conversation" | "path">;

/**
 * Returns the last state of files that a branch has seen (F78): read by its messages and calls, or written by its calls
 * and sub-agents. A change of unseen content does not count as seen: an `edit` next to another writer's lines does not
 * mean that the branch read them. The source is the log, so a restart, a fork or a summary changes nothing.
 */
function seenBy(workspace: Workspace, { conversation, path }: SeenFileScope): SeenFiles {
  const seen = new Map<string, string | null>();
  // Programs that call a tool without an engine may pass neither.
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
      if (message?.role === "user" && !onlyChanges) attachedFiles(message, workspace).forEach(look);
      if (message?.role !== "assistant") continue;
      for (const call of message.calls) {
        if (!onlyChanges) call.seen?.forEach(look);
        const below = launched.get(call.id) ?? [];
        // Changes of a sub-agent in its own worktree do not count here.
        if (worktreeAt(conversation, below[0]?.id) === here) walk(below, true);
        call.changes?.forEach(change);
      }
    }
  };
  walk(path, false);
  return seen;
}

/** Returns the files that a user attached to a message (B46). The digest differs if a secret was removed from the text. */
function attachedFiles({ parts }: Pick<UserMessage, "parts">, workspace: Workspace): SeenFile[] {
  return parts.flatMap((part) => {
    const attached = part.type === "text" ? attachedText(part.text) : undefined;
    if (attached?.kind !== "file") return [];
    const { name, content, encoding } = attached;
    try {
      const path = relative(workspace.root, resolve(workspace.root, meantPath(name, workspace)));
      return [{ path: path.split(sep).join("/"), digest: contentDigest(attachedBytes(content, encoding)) }];
    } catch {
      // The text only looks like an attached file.
      return [];
    }
  });
}

function attachedBytes(content: string, encoding: string | undefined): Buffer {
  if (encoding === undefined) return Buffer.from(content);
  const bytes = Buffer.from(content, "utf16le");
  return encoding === "utf-16be" ? bytes.swap16() : bytes;
}

/** Throws if the branch last saw another content of the file. `digest` is the current digest; `null`: no file. */
export function assertAsSeen(workspace: Workspace, path: string, digest: string | null, where: SeenFileScope): void {
  if (digest === null || isAsSeen(workspace, path, digest, where)) return;
  throw new WorkspaceError(
    "changed",
    `${path} changed since you read it, so it was not replaced. Read it again first, or change one place in it with edit.`,
  );
}

/** Returns whether a file is unchanged since a branch last saw the file; true if the branch never saw it. */
export function isAsSeen(workspace: Workspace, path: string, digest: string, where: SeenFileScope): boolean {
  const last = seenBy(workspace, where).get(path);
  return last === undefined || last === digest;
}

/**
 * Runs work that may change files, such as a command. Then logs the new state of the files that were unchanged since
 * the branch last saw them. Concurrent changes by other programs to these files count as changes by the work.
 * @example await loggingSeenFiles(workspace, toolContext, () => writeFile("a.txt", "oak\n"));
 */
export async function loggingSeenFiles<Result>(
  workspace: Workspace,
  context: SeenFileScope & { saw(file: SeenFile): void },
  work: () => Promise<Result>,
): Promise<Result> {
  const before = new Map<string, string>();
  for (const [path, digest] of seenBy(workspace, context)) {
    const mark = await fileMark(workspace, path);
    if ((await digestWithMark(workspace, path, mark)) === digest) before.set(path, mark);
  }
  try {
    return await work();
  } finally {
    for (const [path, mark] of before) {
      const now = await fileMark(workspace, path);
      const digest = now === mark ? undefined : await digestWithMark(workspace, path, now);
      if (digest !== undefined) context.saw({ path, digest });
    }
  }
}

const known = new Map<string, string>();
const MOST_KNOWN = 10_000;

/** Returns the digest of a file; `null` if missing, undefined if unreadable. `mark` is the file's current mark. */
async function digestWithMark(workspace: Workspace, path: string, mark: string): Promise<string | null | undefined> {
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
    // The path is now a folder, or a rule forbids reading: the next write reports that.
    if (error instanceof WorkspaceError) return undefined;
    throw error;
  }
}

/** Returns the digest of an open file; undefined if the file is too large, or changed during the read. */
export async function digestOfOpen({ handle, stats }: OpenRegularFile): Promise<string | undefined> {
  if (stats.size > MOST_COMPARED) return undefined;
  const digest = await keepBackup(undefined, handle.createReadStream({ start: 0, autoClose: false }));
  const { size, mtimeMs } = await handle.stat();
  return size === stats.size && mtimeMs === stats.mtimeMs ? digest : undefined;
}

const GONE = "gone";

/** Returns a text that differs after a write, replacement or removal. Only equality matters, so links need no special care. */
async function fileMark({ root }: Workspace, path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await lstat(join(root, path), { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(":");
  } catch (error) {
    return systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR" ? GONE : "unknown";
  }
}
