import { randomInt } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { lstat, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { FileChange } from "@banyan/core/conversation";
import type { EnvironmentVariables } from "@banyan/models";
import { pathWithout } from "@banyan/tools/sandbox/find-program";
import { type FileEntry, modeText } from "@banyan/tools/workspace";
import { projectOf } from "../places/project.ts";
import { type GitOptions, git } from "../programs/git.ts";
import { explainGitErrors, noRepository, WorktreeError } from "./error.ts";

/** Milliseconds: for queries of git, for writing all files, and for others to finish their worktrees. */
const PATIENCE = { look: 60_000, write: 600_000, others: 10_000 };
const MOST = 512 * 1024 * 1024;

/** A ref of one worktree: the commit from which it was made. Written last, so a worktree without it is half made. */
const BASE = "refs/worktree/banyan-base";
/** The file mode of a submodule. */
export const SUBMODULE = "160000";
const BRANCHES = "refs/heads/banyan/";
/** The lock reason of a worktree in git, before the id of its conversation. */
const REASON = "Banyan made it for the conversation ";
/** Author and committer of the commit with uncommitted changes. No branch ever holds that commit. */
const NOBODY = Object.fromEntries(
  ["AUTHOR", "COMMITTER"].flatMap((who) => [
    [`GIT_${who}_NAME`, "Banyan"],
    [`GIT_${who}_EMAIL`, "banyan@localhost"],
  ]),
);

/** The files of a work tree at a moment. */
export interface WorktreeSnapshot {
  /** The commit of HEAD. */
  readonly head: string;
  /** A commit with the uncommitted changes and new files on top of HEAD, without ignored files. */
  readonly base: string;
}

/** A worktree that Banyan made, as git lists it. */
export interface GitWorktree {
  readonly name: string;
  /** The top folder, without links. */
  readonly top: string;
  readonly conversation: string;
}

/** The change of a file since the worktree was made. Only regular files have line counts. */
export interface WorktreeFile extends Pick<FileChange, "path" | "kind" | "added" | "removed"> {
  /**
   * Git's file mode: `100644`, `120000` for a link, `160000` for a submodule (even if removed), `000000` if no file
   * exists.
   */
  readonly mode: string;
}

/** The changes of a worktree since it was made. */
export interface WorktreeChanges {
  /** Paths are relative to the top folder. */
  readonly files: readonly WorktreeFile[];
  /** Number of new commits on its branch. */
  readonly commits: number;
}

/**
 * The git repository around a folder, and the worktrees that Banyan makes of it. Never changes the user's files, index,
 * HEAD and stash. Git's own list of worktrees is the only record.
 */
export class Repository {
  /** The user's folder, and its path in the user's work tree. The path ends in a slash, or is empty at the top. */
  readonly folder: string;
  readonly prefix: string;
  /** The top folder of the user's work tree, and the repository that all its worktrees share. */
  readonly top: string;
  readonly common: string;
  readonly #env: EnvironmentVariables;

  private constructor(folder: string, env: EnvironmentVariables, places: readonly [string, string, string]) {
    this.folder = folder;
    this.#env = env;
    [this.prefix, this.top, this.common] = [places[0], places[1], realpathSync(resolve(folder, places[2]))];
  }

  /** Rejects with a `WorktreeError` if the folder has no repository with files and a commit. */
  static async around(folder: string, env: EnvironmentVariables): Promise<Repository> {
    // Never run a `git` program that lies in the workspace (S16).
    const own = { ...env, PATH: pathWithout([projectOf(folder).root], env.PATH ?? "") };
    const how = { cwd: folder, sandbox: undefined, env: own, timeout: PATIENCE.look, withoutContent: true };
    const ask = (...args: string[]) => git(args, how);
    let said: string;
    try {
      said = await ask("rev-parse", "--show-prefix", "--show-toplevel", "--git-common-dir");
    } catch (error) {
      throw noRepository(folder, error);
    }
    const [prefix = "", top = "", common = ""] = said.split("\n");
    // The repository's settings may name another work tree. Banyan must not copy files from there.
    if (top !== projectOf(folder).root)
      throw noRepository(folder, new Error(`its settings name ${top} as the folder of its files.`));
    const repository = new Repository(folder, own, [prefix, top, common]);
    await ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}").catch((cause) => {
      const message = `The repository ${top} has no commit yet, so Banyan cannot make a worktree. Commit something first.`;
      throw new WorktreeError("repository", message, { cause });
    });
    return repository;
  }

  /** Snapshots the files below a work tree. Only adds objects to the repository. */
  snapshot(top: string): Promise<WorktreeSnapshot> {
    return explainGitErrors(`The files in ${top} could not be copied`, () => this.#snapshot(top));
  }

  async #snapshot(top: string): Promise<WorktreeSnapshot> {
    const [tree, head] = [await this.#tree(top), (await this.#ask(top, "rev-parse", "HEAD^{commit}")).trim()];
    const committed = (await this.#ask(top, "rev-parse", `${head}^{tree}`)).trim();
    if (tree === committed) return { head, base: head };
    const commit = ["commit-tree", tree, "-p", head, "-m", "Uncommitted changes from before Banyan made a worktree"];
    return { head, base: (await this.#run(top, commit, { variables: NOBODY, withoutContent: true })).trim() };
  }

  /** Returns the tree of all files that are not ignored, by a temporary copy of the index. */
  async #tree(top: string): Promise<string> {
    const folder = mkdtempSync(join(realpathSync(tmpdir()), "banyan-index-"));
    try {
      const index = resolve(top, (await this.#ask(top, "rev-parse", "--git-path", "index")).trimEnd());
      const variables = { GIT_INDEX_FILE: join(folder, "index") };
      const how = { variables, encoding: "latin1", timeout: PATIENCE.write } as const;
      if (existsSync(index)) copyIndex(index, variables.GIT_INDEX_FILE);
      else await this.#run(top, ["read-tree", "HEAD"], how);
      // Git must not run inside nested repositories: a submodule counts as its current commit.
      const changed = await this.#run(top, ["diff-files", "-z", "--name-only", "--ignore-submodules=dirty"], how);
      const added = await this.#run(top, ["ls-files", "-z", "--others", "--exclude-standard"], {
        ...how,
        withoutContent: true,
      });
      const names = `${changed}${added}`.split("\0").filter((name) => name !== "" && !name.endsWith("/"));
      const update = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
      if (names.length > 0) await this.#run(top, update, { ...how, input: names.map((name) => `${name}\0`).join("") });
      return (await this.#run(top, ["write-tree"], how)).trim();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /**
   * Makes worktrees with the files of a snapshot, each on a new branch of its name, in existing empty folders.
   * Uncommitted changes stay uncommitted. Rejects with a `WorktreeError`, and then removes what it made.
   */
  async add(worktrees: readonly GitWorktree[], snapshot: WorktreeSnapshot): Promise<void> {
    const { head } = snapshot;
    try {
      await this.#put(worktrees, head);
      const filled = await Promise.allSettled(
        worktrees.map(({ name, top }) => explainGitErrors(notMade(name), () => this.#fill(name, top, snapshot))),
      );
      for (const each of filled) if (each.status === "rejected") throw each.reason;
    } catch (error) {
      for (const worktree of worktrees) {
        await this.remove(worktree, head).catch(() => {
          // The next sweep removes a half-made worktree.
        });
      }
      throw error;
    }
  }

  async #put(worktrees: readonly GitWorktree[], head: string): Promise<void> {
    for (const { name, top, conversation } of worktrees) {
      const how = ["-q", "--no-checkout", "--detach", "--lock", "--reason", REASON + conversation];
      await explainGitErrors(notMade(name), () => this.#addWhole(...how, top, head));
    }
  }

  /** Retries, since git fails while another program has added or removed a worktree in part. */
  async #addWhole(...args: readonly string[]): Promise<void> {
    const deadline = performance.now() + PATIENCE.others;
    for (;;)
      try {
        await this.#ask(this.top, "worktree", "add", ...args);
        return;
      } catch (error) {
        if (!isInPart(error) || performance.now() > deadline) throw error;
        await sleep(randomInt(10, 50));
      }
  }

  async #fill(name: string, top: string, { head, base }: WorktreeSnapshot): Promise<void> {
    // Create the branch last: a crash must not leave a branch without an owner.
    await this.#ask(top, "update-ref", BRANCHES + name, head, "");
    await this.#ask(top, "symbolic-ref", "HEAD", BRANCHES + name);
    // Write the files with one process per core.
    const read = ["-c", "checkout.workers=0", "read-tree", "-u", "--reset", base];
    await this.#run(top, read, { timeout: PATIENCE.write });
    if (base !== head) await this.#run(top, ["reset", "-q", "--mixed", head], { timeout: PATIENCE.write });
    mkdirSync(join(top, this.prefix), { recursive: true });
    await this.#ask(top, "update-ref", BASE, base);
  }

  /** True if the branch does not exist yet. Rejects with a `WorktreeError` for a name that git does not accept. */
  async isFree(name: string): Promise<boolean> {
    await this.#ask(this.top, "check-ref-format", BRANCHES + name).catch((cause) => {
      throw new WorktreeError(
        "name",
        `git does not accept the branch name ${JSON.stringify(name)}. Choose another one.`,
        {
          cause,
        },
      );
    });
    const there = ["rev-parse", "--verify", "--quiet", BRANCHES + name];
    return this.#ask(this.top, ...there).then(
      () => false,
      () => true,
    );
  }

  /**
   * Lists Banyan's worktrees below a folder by git's records, also those whose files a user removed. Removes empty
   * folders that git does not know: a process ended before it added the worktree.
   */
  list(below: string): readonly GitWorktree[] {
    const found = listRepositoryFolder(this.#noted).flatMap((id): GitWorktree[] => {
      const reason = readFirstLine(join(this.#noted, id, "locked"));
      if (!reason.startsWith(REASON)) return [];
      const top = dirname(readFirstLine(join(this.#noted, id, "gitdir")) || join(below, id, ".git"));
      if (dirname(top) !== below) return [];
      return [{ name: basename(top), top, conversation: reason.slice(REASON.length) }];
    });
    for (const name of listRepositoryFolder(below))
      if (!found.some((each) => each.name === name)) removeEmpty(join(below, name));
    return found;
  }

  /** The folder of git's records about worktrees. */
  get #noted(): string {
    return join(this.common, "worktrees");
  }

  /** Returns no changes if the worktree is half made or its files were removed. */
  changes({ name, top }: GitWorktree): Promise<WorktreeChanges> {
    return explainGitErrors(`The changes in the worktree ${name} could not be read`, () => this.#changes(top));
  }

  async #changes(top: string): Promise<WorktreeChanges> {
    const base = existsSync(top) ? await this.base(top) : undefined;
    if (base === undefined) return { files: [], commits: 0 };
    const tree = await this.#tree(top);
    const diff = (...how: string[]) =>
      this.#ask(top, "diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", ...how, base, tree);
    const [raw, counted] = [(await diff("--raw")).split("\0"), (await diff("--numstat")).split("\0")];
    const lines = new Map(counted.map((row) => [row.split("\t").slice(2).join("\t"), row.split("\t").map(Number)]));
    const files = Array.from({ length: (raw.length - 1) / 2 }, (_, index): WorktreeFile => {
      const [head = "", path = ""] = raw.slice(2 * index);
      const [before, mode = ""] = head.slice(1).split(" ");
      const kind = before === "000000" ? "created" : mode === "000000" ? "deleted" : "changed";
      const [added = 0, removed = 0] = lines.get(path) ?? [];
      const is = before === SUBMODULE ? SUBMODULE : mode;
      return { path, kind, mode: is, added: added || 0, removed: removed || 0 };
    });
    const listed = new Set(files.map(({ path }) => path));
    files.push(...(await this.#ownModes(top, tree)).filter(({ path }) => !listed.has(path)));
    const commits = Number(await this.#ask(top, "rev-list", "--count", "HEAD", `^${base}`));
    return { files, commits };
  }

  /** Git itself only records whether a file is executable. */
  async #ownModes(top: string, tree: string): Promise<WorktreeFile[]> {
    const found: WorktreeFile[] = [];
    for (const row of (await this.#ask(top, "ls-tree", "-r", "-z", "--full-tree", tree)).split("\0")) {
      const [about = "", path = ""] = row.split("\t");
      const mode = about.slice(0, 6);
      if (!mode.startsWith("100")) continue;
      const stats = await lstat(join(top, path)).catch(() => undefined);
      if (!stats?.isFile() || modeText(stats) === this.checkedOutMode(top, mode)) continue;
      found.push({ path, kind: "changed", mode: modeText(stats), added: 0, removed: 0 });
    }
    return found;
  }

  /** Returns the octal mode that git gave a file. Git made the worktree's file `.git` with the same umask. */
  checkedOutMode(top: string, mode: string): string {
    const plain = statSync(join(top, ".git")).mode & 0o666;
    return modeText({ mode: mode === "100755" ? plain | ((plain & 0o444) >> 2) : plain });
  }

  /** Returns the commit from which a worktree was made; undefined for a half-made worktree. */
  async base(top: string): Promise<string | undefined> {
    const said = await this.#ask(top, "rev-parse", "--verify", "--quiet", BASE).catch(() => undefined);
    return said?.trim();
  }

  /** Returns a file of the base, with checkout filters applied; undefined if the base does not have the file. */
  async baseFile(top: string, base: string, path: string): Promise<FileEntry | undefined> {
    const [mode] = (await this.#ask(top, "ls-tree", "--full-tree", base, "--", path)).split(" ", 1);
    if (!mode) return undefined;
    const content = await this.#run(top, ["cat-file", "--filters", `${base}:${path}`], { encoding: "latin1" });
    return { content: Buffer.from(content, "latin1"), mode };
  }

  /** Removes a worktree, and its branch if it is at commit `at` (absent: any). A retry continues a broken removal. */
  remove({ name, top }: GitWorktree, at?: string): Promise<void> {
    return explainGitErrors(`The worktree ${name} could not be removed from ${top}`, async () => {
      // Mark the worktree as half made first, so that a later sweep finishes a broken removal.
      if (existsSync(join(top, ".git"))) await this.#ask(top, "update-ref", "-d", BASE).catch(() => {});
      await rm(top, { recursive: true, force: true, maxRetries: 3 });
      await this.#ask(this.top, "update-ref", "-d", BRANCHES + name, ...(at === undefined ? [] : [at])).catch(() => {});
      // Remove git's record last: it names the owner of the rest.
      for (const id of listRepositoryFolder(this.#noted)) {
        const noted = readFirstLine(join(this.#noted, id, "gitdir"));
        const isIt = noted === join(top, ".git") || (noted === "" && id === name);
        const isOurs = readFirstLine(join(this.#noted, id, "locked")).startsWith(REASON);
        if (isIt && isOurs) await rm(join(this.#noted, id), { recursive: true, force: true });
      }
      removeEmpty(this.#noted);
    });
  }

  /** Runs git without reading the content of files. */
  #ask(cwd: string, ...args: string[]): Promise<string> {
    return this.#run(cwd, args, { withoutContent: true });
  }

  #run(cwd: string, args: readonly string[], how: Partial<GitOptions> = {}): Promise<string> {
    return git(args, { sandbox: undefined, env: this.#env, timeout: PATIENCE.look, most: MOST, ...how, cwd });
  }
}

/**
 * Copies an index with its time, rounded down to the second. Git then compares the content of files changed within that
 * second, so it also finds a change that kept the file's size.
 */
function copyIndex(index: string, copy: string): void {
  copyFileSync(index, copy);
  const written = Math.floor(statSync(index).mtimeMs / 1000);
  utimesSync(copy, written, written);
}

/** Git failed because of another worktree's record without all of its files. */
function isInPart(error: unknown): boolean {
  return error instanceof Error && "stderr" in error && /failed to read .*commondir/.test(String(error.stderr));
}

function notMade(name: string): string {
  return `The worktree ${name} could not be made`;
}

/** Empty if the folder does not exist. */
function listRepositoryFolder(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Empty if the file cannot be read. */
function readFirstLine(file: string): string {
  try {
    return readFileSync(file, "utf8").split("\n")[0] ?? "";
  } catch {
    return "";
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The folder is not empty, or was removed meanwhile.
  }
}
