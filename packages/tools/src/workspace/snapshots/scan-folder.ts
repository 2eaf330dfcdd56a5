import { chmodSync, closeSync, constants, fstatSync, openSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { systemCode } from "../files/error.ts";
import type { IgnoreRules } from "../files/git-ignore.ts";
import type { Workspace } from "../files/paths.ts";
import { nameOf } from "./tree-paths.ts";

const OPEN = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** On Linux, opens a folder without permission to read the folder (`O_PATH`, which Node does not name). */
const OPEN_UNREADABLE = 0o10000000 | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** The permissions that an owner needs to see what is in a folder. */
const LISTED = 0o500;

/** Errors of a path that exists, but cannot be read. */
export const UNREADABLE: ReadonlySet<string> = new Set([
  "EACCES",
  "EPERM",
  "ELOOP",
  "ENOTDIR",
  "ENOENT",
  "ENAMETOOLONG",
]);

/** A folder during a scan. Opens only on demand, because most folders need no look at their names or contents. */
export class ScanFolder implements Disposable {
  /** The path relative to the workspace; empty for the workspace itself. */
  readonly path: string;
  readonly isIgnored: boolean;
  readonly rules: () => Promise<IgnoreRules | undefined>;
  readonly #workspace: Workspace;
  readonly #parent: ScanFolder | undefined;
  #descriptor: number | undefined;
  #opened: { readonly at: string | undefined } | undefined;

  constructor(
    workspace: Workspace,
    parent: ScanFolder | undefined,
    { path, isIgnored, rules }: Pick<ScanFolder, "path" | "isIgnored" | "rules">,
  ) {
    this.#workspace = workspace;
    this.#parent = parent;
    this.path = path;
    this.isIgnored = isIgnored;
    this.rules = rules;
  }

  /**
   * The open folder as a path, which stays correct even if a parent is swapped for a link, where the system allows that.
   * Undefined if the folder cannot be opened, or was replaced.
   */
  get at(): string | undefined {
    this.#opened ??= { at: this.#open() };
    return this.#opened.at;
  }

  #open(): string | undefined {
    const { root, descriptors } = this.#workspace;
    const around = this.#parent?.at;
    if (this.#parent && around === undefined) return undefined;
    const path = this.#parent ? `${around}/${nameOf(this.path)}` : root;
    try {
      this.#descriptor = openSync(path, OPEN);
    } catch (error) {
      if (!UNREADABLE.has(systemCode(error) ?? "")) throw error;
      return undefined;
    }
    if (descriptors) return `/proc/self/fd/${this.#descriptor}`;
    return realpathSync(path) === path ? path : undefined;
  }

  /** Returns the target of a link in the folder; undefined if the link was replaced. */
  readLink(name: string): Buffer | undefined {
    try {
      return this.at === undefined ? undefined : readlinkSync(`${this.at}/${name}`, { encoding: "buffer" });
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return undefined;
    }
  }

  /** Lets the owner read and change a folder in this folder if the owner cannot list the folder. Returns its stats. */
  makeReadable(name: string, stats: Stats): Stats {
    if ((stats.mode & LISTED) === LISTED || this.at === undefined || !this.#workspace.descriptors) return stats;
    let descriptor: number | undefined;
    try {
      descriptor = openSync(`${this.at}/${name}`, OPEN_UNREADABLE);
      chmodSync(`/proc/self/fd/${descriptor}`, (stats.mode & 0o7777) | 0o700);
      return fstatSync(descriptor);
    } catch (error) {
      // Another user owns the folder, or the folder was replaced.
      if (systemCode(error) === undefined) throw error;
      return stats;
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }

  [Symbol.dispose](): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}
