import type { FileChange } from "@banyan/core/conversation";
import { entryAt, fileChange, fileContent, type KeyWatch, locate, openWorkspace } from "@banyan/tools/workspace";
import { type GitOptions, git } from "../programs/git.ts";
import { WorktreeError } from "../worktrees/error.ts";

/** The folder in a repository, and the function that runs git there. See {@link changesSinceCommit}. */
export interface GitFolder extends Pick<GitOptions, "env" | "sandbox" | "signal"> {
  readonly folder: string;
  /** Receives the whole contents of files whose diffs show only a part (S22). */
  readonly watch: KeyWatch;
}

/** Milliseconds. */
const PATIENCE = 20_000;
const MOST_SAID = 64 * 1024 * 1024;
/** Bytes of a diff, as of other file changes, and of a new file with a diff. */
const MOST_DIFF = 64 * 1024;
const MOST_NEW = 1024 * 1024;
/** New files, and changed files with a diff. */
const MOST = { listed: 2_000, diffs: 200 };

/** Runs no programs of the repository, and ignores changes inside submodules. */
const DIFF = [
  ...["diff", "--raw", "--numstat", "--patch", "-z", "--abbrev=64", "--no-renames", "--relative"],
  ...["--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "--end-of-options", "HEAD", "--"],
];

/**
 * Returns how the files below a folder differ from git's last commit: changed, staged and new files, without files that
 * git ignores. The digests are git's object ids. They are zeros for content that git has not stored. Rejects with a
 * `WorktreeError` without a repository, a commit or a sandbox.
 */
export async function changesSinceCommit({ folder, watch, ...how }: GitFolder): Promise<readonly FileChange[]> {
  if (!how.sandbox)
    throw new WorktreeError(
      "repository",
      "git runs only in a sandbox, and there is none here. !git diff shows the changes to you and the agent.",
    );
  const ask = (...args: string[]) =>
    git(args, { ...how, cwd: folder, timeout: PATIENCE, most: MOST_SAID, encoding: "latin1" });
  const tracked = await ask(...DIFF).catch((cause) => {
    throw new WorktreeError("repository", `${folder} is not inside a git repository that has a commit.`, { cause });
  });
  const changes = readDiff(tracked);
  for (const { diff } of changes) watch()(diff);
  const others = (await ask("ls-files", "--others", "--exclude-standard", "-z")).split("\0").map(asText);
  const added = others.filter((path) => path !== "" && !path.endsWith("/")).slice(0, MOST.listed);
  const workspace = openWorkspace(folder);
  for (const [index, path] of added.entries()) {
    const hasDiff = changes.length + index < MOST.diffs;
    const content = hasDiff ? await contentOf(workspace, path, watch) : undefined;
    changes.push({ ...fileChange(path, undefined, content ?? { digest: UNKNOWN }), after: UNKNOWN });
  }
  return changes.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

const UNKNOWN = "0".repeat(40);

/** Undefined for a large file, and for what is no file. */
async function contentOf(workspace: ReturnType<typeof openWorkspace>, path: string, watch: KeyWatch) {
  try {
    const location = await locate(workspace, path);
    const entry = await entryAt(workspace, location);
    if (!entry || entry.content.length > MOST_NEW) return undefined;
    const content = fileContent(entry.content);
    watch()(content.text ?? "");
    return content;
  } catch {
    // The file is unreadable or was removed meanwhile: it is listed without lines.
    return undefined;
  }
}

/** Reads the list, the numbers of lines and the patches of `git diff`, which have the same files in the same order. */
function readDiff(said: string): FileChange[] {
  const end = said.indexOf("\0\0");
  const fields = said.slice(0, end < 0 ? undefined : end).split("\0");
  let count = 0;
  while (fields[2 * count]?.startsWith(":")) count++;
  const lines = fields.slice(2 * count);
  const patches = end < 0 ? [] : said.slice(end + 2).split(/(?<![^\n])(?=diff --git )/);
  // git has no patch for some files of an unfinished merge.
  const isWhole = lines.length === count && patches.length === count;
  return Array.from({ length: count }, (_, index) => {
    const [before = "", after = "", old = "", now = ""] = (fields[2 * index] ?? "").slice(1).split(" ");
    const [added = 0, removed = 0] = isWhole ? (lines[index] ?? "").split("\t").map(Number) : [];
    const [isCreated, isDeleted] = [before === "000000", after === "000000"];
    const mode = { before: isCreated ? null : before, after: isDeleted ? null : after };
    return {
      path: asText(fields[2 * index + 1] ?? ""),
      kind: isCreated ? "created" : isDeleted ? "deleted" : "changed",
      before: isCreated ? null : old,
      after: isDeleted ? null : now,
      // A binary file has no numbers.
      added: added || 0,
      removed: removed || 0,
      diff: isWhole && index < MOST.diffs ? boundedPatch(asText(patches[index] ?? "")) : "",
      ...(before !== after && { mode }),
    };
  });
}

/** The hunks of a patch, cut at a line. Empty for a binary file. */
function boundedPatch(patch: string): string {
  const from = patch.search(/(?<![^\n])@@ /);
  if (from < 0) return "";
  const hunks = Buffer.from(patch.slice(from));
  return hunks.length <= MOST_DIFF ? `${hunks}` : `${hunks.subarray(0, hunks.lastIndexOf("\n", MOST_DIFF) + 1)}`;
}

/** git's output is read as bytes, because names and lines may be no valid text. */
function asText(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}
