import { createHash } from "node:crypto";
import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { AgentOptions, ConversationState, Session, Store } from "@banyan/core";
import { type OptionNames, refuseUnknown, worktreeAt } from "@banyan/core/conversation";
import { counted, cutTo, visibleLine } from "@banyan/core/shown";
import type { EnvironmentVariables } from "@banyan/models";
import { explainGitErrors, WorktreeError } from "./error.ts";
import { type GitWorktree, Repository, type WorktreeChanges } from "./repository.ts";

/** Options of `Worktrees`. */
export interface WorktreesOptions {
  /** The parent folder of all worktrees: outside of every workspace, and open to commands. */
  readonly folder: string;
  /** The folder of the workspace. `undefined`: there is none, and every command about worktrees is refused. */
  readonly workspace: string | undefined;
  readonly env: EnvironmentVariables;
}

const OPTIONS: OptionNames<WorktreesOptions> = { folder: true, workspace: true, env: true };

/** The start of a new branch, and its worktree. */
export interface BranchStart {
  /** The parent of the branch's first message; `null` for the root. */
  readonly at: string | null;
  readonly worktree?: string | undefined;
}

/** A worktree in a list for users. */
export interface ListedWorktree extends WorktreeChanges {
  readonly name: string;
  /** The folder with the files of the worktree. */
  readonly folder: string;
  readonly conversation: string;
  /** True if a user removed the files of the worktree. */
  readonly isGone: boolean;
}

const NO_WORKSPACE =
  "This server has no workspace, so a branch cannot have files of its own. Continue on another branch.";

const LONGEST = 40;
/** Milliseconds for which an unknown conversation keeps its worktree, because it may be about to be stored. */
const YOUNG = 3_600_000;

/** The message whose text is stored. */
type StoredMessage = Parameters<NonNullable<AgentOptions["storeText"]>>[1];

/**
 * The worktrees of a workspace's conversations (C7). The log records which branch works in which worktree; git records
 * which conversation owns a worktree. If only git has a worktree, it belongs to no branch, and is removed if it has no
 * changes. If only the log has it, as in an imported log, it does not exist.
 */
export class Worktrees {
  readonly #options: WorktreesOptions;
  #repository: Promise<Repository> | undefined;
  readonly #known = new Map<string, GitWorktree>();

  constructor(options: WorktreesOptions) {
    refuseUnknown("worktrees", options, OPTIONS);
    this.#options = options;
  }

  /** Rejects with a `WorktreeError` if no worktree can be made from the repository around the workspace. */
  repository(): Promise<Repository> {
    const { workspace, env } = this.#options;
    if (workspace === undefined) return Promise.reject(new WorktreeError("repository", NO_WORKSPACE));
    this.#repository ??= Repository.around(workspace, env).catch((error: unknown) => {
      // The user may create a repository meanwhile.
      this.#repository = undefined;
      throw error;
    });
    return this.#repository;
  }

  /**
   * The folder of a branch, by its worktree's name; undefined: the workspace, empty if there is none. Rejects with a
   * `WorktreeError` if the worktree is gone or belongs to another conversation.
   */
  async folderOf(name: string | undefined, conversation: string): Promise<string> {
    if (name === undefined) return this.#options.workspace ?? "";
    return resolve((await this.find(name, conversation)).top, (await this.repository()).prefix);
  }

  /** Stores the text of a message in a new file in the branch's folder. Returns the file's name. */
  async storeText(text: string, { worktree, conversation, message }: StoredMessage): Promise<string> {
    const name = `message-${message.slice(-8).toLowerCase()}.txt`;
    await writeFile(join(await this.folderOf(worktree, conversation), name), text, { flag: "wx" });
    return name;
  }

  /** The folder of the branch down to a message. Rejects as `folderOf` does. */
  folderAt(state: ConversationState, leaf: string | null | undefined): Promise<string> {
    return this.folderOf(worktreeAt(state, leaf), state.id);
  }

  /** Finds a worktree of a conversation. Rejects with a `WorktreeError`. */
  async find(name: string, conversation: string): Promise<GitWorktree> {
    let known = this.#known.get(name);
    if (!known) {
      known = (await this.#all()).find((each) => each.name === name);
      if (known) this.#known.set(name, known);
    }
    const called = visibleLine(name).slice(0, 2 * LONGEST);
    if (known && known.conversation !== conversation)
      throw new WorktreeError(
        "foreign",
        `The worktree ${called} belongs to another conversation. Continue from a message before the worktree began.`,
      );
    if (known && existsSync(known.top)) return known;
    throw new WorktreeError(
      "gone",
      `The worktree ${called} of this branch no longer exists. Continue from a message before the worktree began, or on another branch.`,
    );
  }

  /**
   * Makes a branch below a message for each name, with its own worktree and a first message that informs the model. All
   * start with the files of the branch at `at`, including uncommitted changes. Rejects with a `WorktreeError` or
   * `SessionError`, and then makes none.
   */
  async open(session: Session, at: string | null, names: readonly string[]): Promise<readonly BranchStart[]> {
    const starts: BranchStart[] = [];
    for (const name of await this.make(session.state, at, names)) {
      const text = worktreeNote(name, await this.folderOf(name, session.id), this.#options.workspace ?? "");
      const message = await session.add(text, { at, author: "system", worktree: name });
      starts.push({ at: message, worktree: name });
    }
    return starts;
  }

  /**
   * Makes worktrees with the files of the branch at a message. Resolves with their names, which the caller writes into
   * the log. Rejects with a `WorktreeError`, and then makes none.
   */
  async make(state: ConversationState, at: string | null, names: readonly string[]): Promise<readonly string[]> {
    const repository = await this.repository();
    const from = worktreeAt(state, at);
    const snapshot = await repository.snapshot(
      from === undefined ? repository.top : (await this.find(from, state.id)).top,
    );
    const claimed: GitWorktree[] = [];
    // A removed worktree's name is still in the conversation, so a new worktree must not reuse it.
    const used = new Set(state.messages.values().map((message) => message.role === "user" && message.worktree));
    const isFree = async (name: string) => !used.has(name) && (await repository.isFree(name));
    for (const name of names) claimed.push(await this.#claim(repository, name, { conversation: state.id, isFree }));
    await repository.add(claimed, snapshot);
    for (const worktree of claimed) this.#known.set(worktree.name, worktree);
    return claimed.map(({ name }) => name);
  }

  /** Reserves a free name by creating its folder. */
  async #claim(
    repository: Repository,
    wanted: string,
    how: { readonly conversation: string; isFree(name: string): Promise<boolean> },
  ): Promise<GitWorktree> {
    const plain = plainName(wanted);
    for (let count = 1; ; count++) {
      const name = count === 1 ? plain : `${plain}-${count}`;
      if (!(await how.isFree(name))) continue;
      const top = await explainGitErrors(`The worktree ${name} could not be made`, () => {
        mkdirSync(this.#below(repository), { recursive: true, mode: 0o700 });
        return takenFolder(join(this.#below(repository), name));
      });
      if (top !== undefined) return { name, top, conversation: how.conversation };
    }
  }

  /** Lists all worktrees of the workspace's repository with their changes. Rejects with a `WorktreeError`. */
  async list(conversation?: string): Promise<ListedWorktree[]> {
    const all = (await this.#all())
      .filter((each) => conversation === undefined || each.conversation === conversation)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const repository = await this.repository();
    return Promise.all(
      all.map(async (each) => ({
        name: each.name,
        conversation: each.conversation,
        isGone: !existsSync(each.top),
        folder: resolve(each.top, repository.prefix),
        ...(await repository.changes(each)),
      })),
    );
  }

  /** The changes in a worktree. Rejects with a `WorktreeError`. */
  async changes(name: string, conversation: string): Promise<WorktreeChanges> {
    return (await this.repository()).changes(await this.find(name, conversation));
  }

  /** Removes a worktree. Rejects with a `WorktreeError`, also if it has changes and `changes` is not set. */
  async remove(name: string, { changes = false }: { readonly changes?: boolean | undefined } = {}): Promise<void> {
    const found = (await this.#all()).find((each) => each.name === name);
    if (!found)
      throw new WorktreeError(
        "gone",
        `There is no worktree ${visibleLine(name).slice(0, 2 * LONGEST)}. List the worktrees to see their names.`,
      );
    const repository = await this.repository();
    const held = heldInWorktree(await repository.changes(found));
    if (held !== undefined && !changes)
      throw new WorktreeError(
        "holds",
        `The worktree ${name} has ${held}. Bring the changes over first, or remove the worktree together with its changes.`,
      );
    await this.#remove(repository, found);
  }

  /** Removes a conversation's worktrees without a branch and without changes. Never rejects. */
  async sweep(conversation: string, state: Pick<ConversationState, "messages"> | undefined): Promise<void> {
    await this.#sweep((each) => {
      if (each.conversation !== conversation) return false;
      return !state?.messages.values().some((message) => message.role === "user" && message.worktree === each.name);
    });
  }

  /** Sweeps the worktrees of conversations that the store no longer has. */
  async sweepGone(store: Pick<Store, "list">): Promise<void> {
    await this.#sweep(async (each) => {
      if (isYoung(each)) return false;
      return (await store.list({ conversations: [each.conversation] })).length === 0;
    });
  }

  async #sweep(isLeft: (each: GitWorktree) => boolean | Promise<boolean>): Promise<void> {
    if (!existsSync(this.#options.folder)) return;
    try {
      const repository = await this.repository();
      for (const each of await this.#all()) {
        if (!(await isLeft(each))) continue;
        if (heldInWorktree(await repository.changes(each)) === undefined) await this.#remove(repository, each);
      }
    } catch {
      // The next conversation sweeps again, and the list of worktrees reports the error.
    }
  }

  async #remove(repository: Repository, worktree: GitWorktree): Promise<void> {
    this.#known.delete(worktree.name);
    await repository.remove(worktree);
  }

  async #all(): Promise<readonly GitWorktree[]> {
    const repository = await this.repository();
    return repository.list(this.#below(repository));
  }

  /** The folder of a repository's worktrees, without links, as git stores it. */
  #below({ common, top }: Repository): string {
    const { folder } = this.#options;
    const digest = createHash("sha256").update(common).digest("hex").slice(0, 8);
    return join(existsSync(folder) ? realpathSync(folder) : folder, `${plainName(basename(top))}-${digest}`);
  }
}

/** Undefined if the folder exists. */
function takenFolder(folder: string): string | undefined {
  try {
    mkdirSync(folder);
    return folder;
  } catch (error) {
    if (existsSync(folder)) return undefined;
    throw error;
  }
}

/** Describes the changes in a worktree; undefined if there are none. */
export function heldInWorktree({ files, commits }: WorktreeChanges): string | undefined {
  const said = [
    ...(files.length > 0 ? [counted(files.length, "changed file")] : []),
    ...(commits > 0 ? [counted(commits, "commit")] : []),
  ];
  return said.length === 0 ? undefined : said.join(" and ");
}

function isYoung({ top }: GitWorktree): boolean {
  const made = statSync(top, { throwIfNoEntry: false })?.birthtimeMs ?? 0;
  return Date.now() - made < YOUNG;
}

/** A name that is valid for folders and branches everywhere. */
function plainName(wanted: string): string {
  const plain = wanted
    .normalize("NFC")
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, "-")
    .replaceAll(/\.{2,}/g, ".")
    .replaceAll(/^[-.]+|[-.]+$/g, "");
  const short = cutTo(plain, Array.from(plain).slice(0, LONGEST).join("").length, "").replace(/\.lock$|[-.]+$/, "");
  return short === "" ? "branch" : short;
}

function worktreeNote(name: string, folder: string, workspace: string): string {
  return [
    `From this message on, this branch uses its own git worktree, ${name}, in the folder ${folder}.`,
    "The worktree contains the current files, committed or not, but no files that git ignores, such as installed dependencies.",
    `Changes in the worktree do not affect ${workspace} until a user brings them over.`,
  ].join(" ");
}
