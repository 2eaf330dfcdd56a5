import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Session } from "@banyan/core";
import { memoryStore } from "@banyan/store/memory";
import { Worktrees } from "./worktrees.ts";

/** Kinds of repositories that users work in. */
export const KINDS = ["plain", "below", "submodules", "sparse", "lfs", "linked", "detached"] as const;
export type Kind = (typeof KINDS)[number];

/** A user's repository with committed, changed, new and ignored files. */
export class PersonsRepository implements Disposable {
  /** The folder of everything that the fixture makes. */
  readonly root: string;
  readonly env: { readonly PATH: string | undefined; readonly HOME: string };
  readonly worktrees: string;
  /** The top folder of the user's files, and the user's workspace in it. */
  readonly top: string;
  readonly workspace: string;
  /** The git folders of the repository: its own, and the common one. */
  #folders: readonly string[] | undefined;

  private constructor(root: string, kind: Kind) {
    this.root = root;
    this.env = { PATH: process.env.PATH, HOME: join(root, "home") };
    this.worktrees = join(root, "worktrees");
    this.top = join(root, kind === "linked" ? "linked" : "project");
    this.workspace = kind === "below" ? join(this.top, "src") : this.top;
  }

  /** Opens a repository that another process made. */
  static at(root: string, kind: Kind): PersonsRepository {
    return new PersonsRepository(root, kind);
  }

  static of(kind: Kind, files = 12): PersonsRepository {
    const person = new PersonsRepository(realpathSync(mkdtempSync(join(tmpdir(), "banyan-worktrees-"))), kind);
    person.#make(kind, files);
    return person;
  }

  #make(kind: Kind, files: number): void {
    mkdirSync(this.env.HOME);
    const main = join(this.root, "project");
    mkdirSync(main);
    this.git(main, "init", "-q", "-b", "main");
    const names = Array.from({ length: files }, (_, index) => `src/${index % 7}/file-${index}.txt`);
    for (const name of names) this.write(main, name, `${name}\none\ntwo\nthree\n`);
    this.write(main, ".gitignore", "ignored/\n");
    this.write(main, "ignored/secret", "not for a worktree");
    if (kind === "lfs") this.#largeFiles(main);
    if (kind === "submodules") this.#submodule(main);
    this.commit(main, "first");
    if (kind === "sparse") this.git(main, "sparse-checkout", "set", "src/1", "src/2");
    if (kind === "detached") this.git(main, "checkout", "-q", "--detach");
    if (kind === "linked") this.git(main, "worktree", "add", "-q", "-b", "other", this.top);
    this.write(this.top, "src/1/file-1.txt", "changed, and not committed\n");
    this.write(this.top, "new.txt", "new\n");
    this.git(this.top, "rm", "-q", "--sparse", "src/2/file-2.txt");
    this.write(this.top, "staged.txt", "staged\n");
    this.git(this.top, "add", "--sparse", "staged.txt");
    this.write(this.top, "staged.txt", "staged, and changed again\n");
    this.write(this.top, "file with spaces é.txt", "odd\n");
  }

  /** A missing clean filter, and pointer files. */
  #largeFiles(main: string): void {
    this.write(main, ".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    this.write(main, "large.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    this.git(main, "config", "filter.lfs.clean", "false");
    this.git(main, "config", "filter.lfs.smudge", "false");
    this.git(main, "config", "filter.lfs.required", "true");
    // As `git lfs` itself would store it.
    this.git(main, "add", "large.bin");
  }

  #submodule(main: string): void {
    const inner = join(this.root, "inner");
    mkdirSync(inner);
    this.git(inner, "init", "-q", "-b", "main");
    this.write(inner, "inside.txt", "inside\n");
    this.commit(inner, "inside");
    this.git(main, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "module");
  }

  /** Runs git as the user does, with the user's own programs. */
  git(cwd: string, ...args: string[]): string {
    const who = [
      "-c",
      "user.name=Person",
      "-c",
      "user.email=person@localhost",
      "-c",
      "commit.gpgsign=false",
      "-c",
      "filter.lfs.clean=cat",
    ];
    return execFileSync("git", [...who, ...args], {
      cwd,
      env: this.env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  commit(cwd: string, message: string): void {
    this.git(cwd, "add", "-A");
    this.git(cwd, "commit", "-q", "--allow-empty", "-m", message);
  }

  write(folder: string, name: string, content: string): void {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }

  /** A hash of the user's files and git data, without branches and worktrees of Banyan. */
  get fingerprint(): string {
    const hash = createHash("sha256");
    for (const [path, content] of filesIn(this.top)) hash.update(`${path}\0${content}\0`);
    this.#folders ??= this.git(this.top, "rev-parse", "--absolute-git-dir", "--git-common-dir").trim().split("\n");
    const [own = "", common = ""] = this.#folders.map((folder) => resolve(this.top, folder));
    for (const name of ["HEAD", "index"]) hash.update(readFileSync(join(own, name)));
    for (const name of ["config", "logs/refs/stash", "packed-refs"])
      if (existsSync(join(common, name))) hash.update(readFileSync(join(common, name)));
    const refs = this.git(this.top, "for-each-ref")
      .split("\n")
      .filter((line) => !line.includes("refs/heads/banyan/"));
    return hash.update(refs.join("\n")).digest("hex");
  }

  /** Branches, worktrees and folders of Banyan. */
  get left(): string[] {
    const branches = this.git(this.top, "for-each-ref", "--format=%(refname)", "refs/heads/banyan/").split("\n");
    const worktrees = this.git(this.top, "worktree", "list", "--porcelain").split("\n");
    const folders = existsSync(this.worktrees) ? readdirSync(this.worktrees, { recursive: true }).map(String) : [];
    const ofOurs = folders.filter((name) => name.split("/").length === 2);
    return [
      ...branches,
      ...worktrees.filter((line) => line.startsWith(`worktree ${this.worktrees}`)),
      ...ofOurs,
    ].filter((line) => line !== "");
  }

  open(): Worktrees {
    return new Worktrees({ folder: this.worktrees, workspace: this.workspace, env: this.env });
  }

  /** A conversation with one message. */
  async session(): Promise<Session> {
    const session = await Session.open(memoryStore(), undefined, { create: true });
    await session.add("Find the bug.");
    return session;
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** The files below a folder with their contents; links are not followed, and `.git` is left out. */
export function filesIn(folder: string, below = ""): [string, string][] {
  return readdirSync(join(folder, below))
    .toSorted()
    .flatMap((name): [string, string][] => {
      const path = below === "" ? name : `${below}/${name}`;
      if (path === ".git") return [];
      const found = lstatSync(join(folder, path));
      if (found.isDirectory()) return filesIn(folder, path);
      const content = found.isSymbolicLink()
        ? readlinkSync(join(folder, path))
        : readFileSync(join(folder, path), "latin1");
      return [[path, content]];
    });
}
