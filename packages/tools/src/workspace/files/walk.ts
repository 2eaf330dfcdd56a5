import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { systemCode } from "./error.ts";
import { type IgnoreRules, isIgnored, rulesIn } from "./git-ignore.ts";
import { type OpenDirectory, openInside } from "./open-path.ts";
import type { Workspace } from "./paths.ts";

/** Something that a walk came across. */
export interface Entry {
  /** From the root. */
  readonly path: string;
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "special";
  /** Where it lies; open only until the walk goes on. */
  readonly directory: OpenDirectory;
}

/** Milliseconds after which others get a turn: a folder says by its rules and its size how long a walk takes. */
const AT_ONCE = 20;

export interface WalkOptions {
  /** The levels to go down: 1 is the folder's own entries. */
  readonly depth: number;
  /** The rules that hold in the folder. */
  readonly rules: IgnoreRules | undefined;
  readonly signal?: AbortSignal;
  /** Names of folders that are named and not entered. */
  readonly passOver?: ReadonlySet<string>;
  /** Hears of each entry that is left out with all that is below it. `.git` is left out without a word. */
  readonly onLeftOut?: (left: LeftOut) => void;
}

/** An entry that a walk leaves out. */
export interface LeftOut {
  /** From the root. */
  readonly path: string;
  readonly why: "ignored" | "unreadable";
  readonly isFolder: boolean;
}

/**
 * What is in a folder and below it, sorted by name, each folder before its content. Left out are `.git` and what git
 * ignores. Links are named and never followed. A folder that cannot be opened is named and passed over. Throws the
 * signal's reason when it aborts, soon after: others get their turn meanwhile.
 */
export async function* walk(
  workspace: Workspace,
  directory: OpenDirectory,
  folder: string,
  options: WalkOptions,
): AsyncGenerator<Entry> {
  yield* walkEntries(workspace, directory, folder, await readdir(directory.at, { withFileTypes: true }), options);
}

async function* walkEntries(
  workspace: Workspace,
  directory: OpenDirectory,
  folder: string,
  entries: Dirent[],
  options: WalkOptions,
): AsyncGenerator<Entry> {
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
    const kind = kindOf(entry);
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
): AsyncGenerator<Entry> {
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

/** Returns whether an entry is there and cannot be opened. Any other entry went away or became a link since it was seen. */
export function isUnreadable(error: unknown, name: string): boolean {
  const code = systemCode(error);
  // A name that is not UTF-8 is known only in part, so nothing is found by it.
  return code !== undefined && (name.includes("\ufffd") || !["ENOENT", "ENOTDIR", "ELOOP"].includes(code));
}

function kindOf(entry: Dirent): Entry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "special";
}
