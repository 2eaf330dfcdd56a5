import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { systemCode } from "./error.ts";
import { type IgnoreRules, isIgnored, rulesIn } from "./git-ignore.ts";
import { type OpenDirectory, openInside } from "./open-path.ts";
import type { Workspace } from "./paths.ts";

/** A file or folder that a walk through a folder finds. */
export interface WalkEntry {
  readonly path: string;
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "special";
  /** The parent folder, open only until the walk continues. */
  readonly directory: OpenDirectory;
}

/** Milliseconds of work between two pauses: rules and size of a folder can make a walk long. */
const AT_ONCE = 20;

export interface WalkOptions {
  /** The levels to go down: 1 means only the folder's own entries. */
  readonly depth: number;
  readonly rules: IgnoreRules | undefined;
  readonly signal?: AbortSignal;
  /** Names of folders that are yielded but not entered. */
  readonly passOver?: ReadonlySet<string>;
  /** Called for each entry that is left out with its content. `.git` is left out silently. */
  readonly onLeftOut?: (left: SkippedEntry) => void;
}

/** A file or folder that a walk leaves out, because git ignores it. */
export interface SkippedEntry {
  readonly path: string;
  readonly why: "ignored" | "unreadable";
  readonly isFolder: boolean;
}

/**
 * Yields the entries of a folder, sorted by name, each folder before its content. Skips `.git` and ignored files. Links
 * are yielded but never followed. An unreadable folder is yielded and skipped. Throws the signal's reason soon after an
 * abort. Pauses let other work run.
 */
export async function* walk(
  workspace: Workspace,
  directory: OpenDirectory,
  folder: string,
  options: WalkOptions,
): AsyncGenerator<WalkEntry> {
  yield* walkEntries(workspace, directory, folder, await readdir(directory.at, { withFileTypes: true }), options);
}

async function* walkEntries(
  workspace: Workspace,
  directory: OpenDirectory,
  folder: string,
  entries: Dirent[],
  options: WalkOptions,
): AsyncGenerator<WalkEntry> {
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  let since = performance.now();
  for (const entry of entries) {
    if (performance.now() - since > AT_ONCE) {
      await turnOfTheLoop();
      since = performance.now();
    }
    options.signal?.throwIfAborted();
    if (entry.name === ".git") continue;
    const path = folder === "." ? entry.name : `${folder}/${entry.name}`;
    const kind = entryKind(entry);
    if (isIgnored(options.rules, path, kind === "directory")) {
      options.onLeftOut?.({ path, why: "ignored", isFolder: kind === "directory" });
      continue;
    }
    yield { path, name: entry.name, kind, directory };
    if (kind === "directory" && options.depth > 1 && !options.passOver?.has(entry.name))
      yield* walkInside(workspace, directory, entry.name, path, options);
  }
}

async function* walkInside(
  workspace: Workspace,
  parent: OpenDirectory,
  name: string,
  path: string,
  options: WalkOptions,
): AsyncGenerator<WalkEntry> {
  let opened: OpenDirectory;
  try {
    opened = await openInside(workspace, parent, name);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    if (isUnreadable(error, name)) options.onLeftOut?.({ path, why: "unreadable", isFolder: true });
    return;
  }
  await using directory = opened;
  const entries = await readdir(directory.at, { withFileTypes: true });
  const rules = await rulesIn(workspace, directory, path, options.rules, new Set(entries.map(({ name }) => name)));
  yield* walkEntries(workspace, directory, path, entries, { ...options, rules, depth: options.depth - 1 });
}

/** Returns whether an entry exists but cannot be opened. Other errors mean that the entry was removed or became a link. */
export function isUnreadable(error: unknown, name: string): boolean {
  const code = systemCode(error);
  // A name that is not valid UTF-8 is incomplete, so the file cannot be opened by name.
  return code !== undefined && (name.includes("\ufffd") || !["ENOENT", "ENOTDIR", "ELOOP"].includes(code));
}

function entryKind(entry: Dirent): WalkEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "special";
}
