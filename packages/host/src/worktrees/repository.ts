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
import type { FileChange } from "@banyan/core/conversation";
import type { Environment } from "@banyan/models";
import { pathWithout } from "@banyan/tools/sandbox/find-program";
import { type FileEntry, modeText } from "@banyan/tools/workspace";
import { projectOf } from "../places/project.ts";
import { type GitOptions, git } from "../programs/git.ts";
import { noRepository, orRefused, WorktreeError } from "./error.ts";

/** Milliseconds that git may take: to look, and to write all files. */
const PATIENCE = { look: 60_000, write: 600_000 };
/** Bytes of names that it may say. */
const MOST = 512 * 1024 * 1024;

/** Of the worktree alone: what it was made from. It is written last, so that one without is half made, and holds nothing. */
const BASE = "refs/worktree/banyan-base";
/** The mode of a submodule. */
export const SUBMODULE = "160000";
const BRANCHES = "refs/heads/banyan/";
/** Why git keeps it: whose it is. */
const REASON = "Banyan made it for the conversation ";
/** Who commits what is not committed, so that it can be compared with; no branch ever holds it. */
const NOBODY = Object.fromEntries(
  ["AUTHOR", "COMMITTER"].flatMap((who) => [
    [`GIT_${who}_NAME`, "Banyan"],
    [`GIT_${who}_EMAIL`, "banyan@localhost"],
  ]),
);

/** The files of a work tree as they were at a moment. */
export interface Snapshot {
  /** What was committed. */
  readonly head: string;
  /** A commit with what was not committed besides, new files among it; what is ignored is left out. */
  readonly base: string;
}

/** A worktree that Banyan made, as git has it. */
export interface GitWorktree {
  readonly name: string;
  /** Its uppermost folder, without links. */
  readonly top: string;
  readonly conversation: string;
}

/** What became of a file since the worktree was made; of what is no regular file only that it did. */
export interface WorktreeFile extends Pick<FileChange, "path" | "kind" | "added" | "removed"> {
  /** As git writes it: `100644`, `120000` for a link, `160000` for a submodule, also one that went; else `000000` for no file. */
  readonly mode: string;
}

/** What a worktree holds that its base did not. */
export interface WorktreeChanges {
  /** Paths from its uppermost folder. */
  readonly files: readonly WorktreeFile[];
  /** Commits on its branch. */
  readonly commits: number;
}

/**
 * The repository of git around a folder, and the worktrees that Banyan makes of it. What the person has there is never touched:
 * neither their files, nor index, HEAD and stash. What git has of worktrees is all that there is: nothing is noted elsewhere.
 */
export class Repository {
  /** The folder of the person, and where it lies in their work tree: with a slash behind it, or nothing at the top. */
  readonly folder: string;
  readonly prefix: string;
  /** The uppermost folder of their work tree, and the repository that all its worktrees share. */
  readonly top: string;
  readonly common: string;
  readonly #env: Environment;
  #adding: Promise<void> = Promise.resolve();

  private constructor(folder: string, env: Environment, places: readonly [string, string, string]) {
    this.folder = folder;
    this.#env = env;
    [this.prefix, this.top, this.common] = [places[0], places[1], realpathSync(resolve(folder, places[2]))];
  }

  /** Rejects with a `WorktreeError` when there is none with files and a commit. */
  static async around(folder: string, env: Environment): Promise<Repository> {
    // What lies in the workspace is not taken for git (S16).
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
    // Settings of a repository may name another work tree, which is not the person's to copy.
    if (top !== projectOf(folder).root)
      throw noRepository(folder, new Error(`its settings name ${top} as the folder of its files.`));
    const repository = new Repository(folder, own, [prefix, top, common]);
    await ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}").catch((cause) => {
      const message = `The repository ${top} has no commit yet, so no worktree can be made of it. Commit something first.`;
      throw new WorktreeError("repository", message, { cause });
    });
    return repository;
  }

  /** The files below a work tree of the repository as they are now; what the person has is read, and only objects are added. */
  snapshot(top: string): Promise<Snapshot> {
    return orRefused(`The files in ${top} could not be copied`, () => this.#snapshot(top));
  }

  async #snapshot(top: string): Promise<Snapshot> {
    const [tree, head] = [await this.#tree(top), (await this.#ask(top, "rev-parse", "HEAD^{commit}")).trim()];
    const committed = (await this.#ask(top, "rev-parse", `${head}^{tree}`)).trim();
    if (tree === committed) return { head, base: head };
    const commit = ["commit-tree", tree, "-p", head, "-m", "What was not committed when Banyan made a worktree."];
    return { head, base: (await this.#run(top, commit, { variables: NOBODY, withoutContent: true })).trim() };
  }

  /** The tree of all that is there and not ignored, by an index of its own that begins as the one that is there. */
  async #tree(top: string): Promise<string> {
    const folder = mkdtempSync(join(realpathSync(tmpdir()), "banyan-index-"));
    try {
      const index = resolve(top, (await this.#ask(top, "rev-parse", "--git-path", "index")).trimEnd());
      const variables = { GIT_INDEX_FILE: join(folder, "index") };
      const how = { variables, encoding: "latin1", timeout: PATIENCE.write } as const;
      if (existsSync(index)) copyIndex(index, variables.GIT_INDEX_FILE);
      else await this.#run(top, ["read-tree", "HEAD"], how);
      // What lies in repositories inside is theirs: git is told of the commit that stands there, and begins nothing in them.
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
   * Makes worktrees with the files of a snapshot in their folders, which are there and empty, each on a branch of its name, which
   * is free: what was not committed is not committed there either. Rejects with a `WorktreeError`, and leaves nothing behind.
   */
  async add(worktrees: readonly GitWorktree[], snapshot: Snapshot): Promise<void> {
    const { head } = snapshot;
    try {
      // Git itself stumbles over one that is just being put down, also for somebody else.
      const added = this.#adding.then(() => this.#put(worktrees, head));
      this.#adding = added.catch(() => {});
      await added;
      const filled = await Promise.allSettled(
        worktrees.map(({ name, top }) => orRefused(notMade(name), () => this.#fill(name, top, snapshot))),
      );
      for (const each of filled) if (each.status === "rejected") throw each.reason;
    } catch (error) {
      for (const worktree of worktrees) {
        await this.remove(worktree, head).catch(() => {
          // It is half made, and goes when somebody looks through them next.
        });
      }
      throw error;
    }
  }

  async #put(worktrees: readonly GitWorktree[], head: string): Promise<void> {
    for (const { name, top, conversation } of worktrees) {
      const how = ["-q", "--no-checkout", "--detach", "--lock", "--reason", REASON + conversation];
      await orRefused(notMade(name), () => this.#ask(this.top, "worktree", "add", ...how, top, head));
    }
  }

  async #fill(name: string, top: string, { head, base }: Snapshot): Promise<void> {
    // Only now, so that no branch is there of which nobody knows whose it is.
    await this.#ask(top, "update-ref", BRANCHES + name, head, "");
    await this.#ask(top, "symbolic-ref", "HEAD", BRANCHES + name);
    // Many files are written by as many processes as there are cores.
    const read = ["-c", "checkout.workers=0", "read-tree", "-u", "--reset", base];
    await this.#run(top, read, { timeout: PATIENCE.write });
    if (base !== head) await this.#run(top, ["reset", "-q", "--mixed", head], { timeout: PATIENCE.write });
    mkdirSync(join(top, this.prefix), { recursive: true });
    await this.#ask(top, "update-ref", BASE, base);
  }

  /** Whether git takes a branch of this name, and has none yet. */
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
   * The worktrees of Banyan below a folder, by what git has noted of them, whether their files are there or somebody removed them.
   * An empty folder of which git knows nothing was taken by a process that ended before it came to more: that goes.
   */
  list(below: string): readonly GitWorktree[] {
    const found = namesIn(this.#noted).flatMap((id): GitWorktree[] => {
      const reason = firstLine(join(this.#noted, id, "locked"));
      if (!reason.startsWith(REASON)) return [];
      const top = dirname(firstLine(join(this.#noted, id, "gitdir")) || join(below, id, ".git"));
      if (dirname(top) !== below) return [];
      return [{ name: basename(top), top, conversation: reason.slice(REASON.length) }];
    });
    for (const name of namesIn(below)) if (!found.some((each) => each.name === name)) removeEmpty(join(below, name));
    return found;
  }

  /** Where git notes which worktrees there are. */
  get #noted(): string {
    return join(this.common, "worktrees");
  }

  /** What it holds; nothing when it is half made, or its files are not there any more. */
  changes({ name, top }: GitWorktree): Promise<WorktreeChanges> {
    return orRefused(`The changes in the worktree ${name} could not be read`, () => this.#changes(top));
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

  /** Files with other permissions than their checkout gave them: git knows of them only whether a file can be run. */
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

  /**
   * The mode that git gave a file when it made the worktree, in octal digits. Git made the worktree's file `.git` with the same
   * umask, and nobody changes that file.
   */
  checkedOutMode(top: string, mode: string): string {
    const plain = statSync(join(top, ".git")).mode & 0o666;
    return modeText({ mode: mode === "100755" ? plain | ((plain & 0o444) >> 2) : plain });
  }

  /** What a worktree was made from; nothing for one that is half made. */
  async base(top: string): Promise<string | undefined> {
    const said = await this.#ask(top, "rev-parse", "--verify", "--quiet", BASE).catch(() => undefined);
    return said?.trim();
  }

  /** A file as it was in the base of a worktree, in the form in which it stands there; nothing where it was not. */
  async baseFile(top: string, base: string, path: string): Promise<FileEntry | undefined> {
    const [mode] = (await this.#ask(top, "ls-tree", "--full-tree", base, "--", path)).split(" ", 1);
    if (!mode) return undefined;
    const content = await this.#run(top, ["cat-file", "--filters", `${base}:${path}`], { encoding: "latin1" });
    return { content: Buffer.from(content, "latin1"), mode };
  }

  /** Removes a worktree with all that it holds, and its branch, if it stands at the commit that is named. Begun again, it goes on. */
  remove({ name, top }: GitWorktree, at?: string): Promise<void> {
    return orRefused(`The worktree ${name} could not be removed from ${top}`, async () => {
      // From here on it is half made, however far this comes.
      if (existsSync(join(top, ".git"))) await this.#ask(top, "update-ref", "-d", BASE).catch(() => {});
      await rm(top, { recursive: true, force: true, maxRetries: 3 });
      await this.#ask(this.top, "update-ref", "-d", BRANCHES + name, ...(at === undefined ? [] : [at])).catch(() => {});
      // Last, since it says whose the rest is.
      for (const id of namesIn(this.#noted)) {
        const noted = firstLine(join(this.#noted, id, "gitdir"));
        const isIt = noted === join(top, ".git") || (noted === "" && id === name);
        const isOurs = firstLine(join(this.#noted, id, "locked")).startsWith(REASON);
        if (isIt && isOurs) await rm(join(this.#noted, id), { recursive: true, force: true });
      }
      removeEmpty(this.#noted);
    });
  }

  /** Of what needs no content of files. */
  #ask(cwd: string, ...args: string[]): Promise<string> {
    return this.#run(cwd, args, { withoutContent: true });
  }

  #run(cwd: string, args: readonly string[], how: Partial<GitOptions> = {}): Promise<string> {
    return git(args, { sandbox: undefined, env: this.#env, timeout: PATIENCE.look, most: MOST, ...how, cwd });
  }
}

/**
 * Copies an index with its time, to the second: what was changed in the second in which it was written, and is as long as before,
 * git finds by looking at all files of that second.
 */
function copyIndex(index: string, copy: string): void {
  copyFileSync(index, copy);
  const written = Math.floor(statSync(index).mtimeMs / 1000);
  utimesSync(copy, written, written);
}

function notMade(name: string): string {
  return `The worktree ${name} could not be made`;
}

/** What lies in a folder; nothing of one that is not there. */
function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** The first line of a file; empty where there is none. */
function firstLine(file: string): string {
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
    // Something is in it, or it has gone.
  }
}
