import { execFile } from "node:child_process";
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path/posix";
import { promisify } from "node:util";

/** Files that are listed at the most. */
const MOST = 50_000;
/** Milliseconds for which a list is good. */
const FRESH = 3_000;
/** Folders that hold what others wrote, where no repository says so. */
const PASSED_OVER = new Set([".git", "node_modules", ".venv", "__pycache__"]);

const run = promisify(execFile);

/** The files of a folder and below it, as paths from there, without those that git ignores. Asked for again, it looks again. */
export class WorkspaceFiles {
  readonly root: string;
  #listed: Promise<readonly string[]> | undefined;
  #until = 0;

  constructor(root: string) {
    this.root = root;
  }

  /** Sorted. What cannot be read is left out. */
  list(): Promise<readonly string[]> {
    if (!this.#listed || performance.now() > this.#until) this.#listed = this.#list();
    return this.#listed;
  }

  async #list(): Promise<readonly string[]> {
    this.#until = Number.POSITIVE_INFINITY;
    const files = (await gitFiles(this.root)) ?? (await allFiles(this.root));
    this.#until = performance.now() + FRESH;
    return files.sort().slice(0, MOST);
  }
}

/** Files that git has or would take; nothing where there is no repository, or no git. */
async function gitFiles(root: string): Promise<string[] | undefined> {
  try {
    const ask = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
    const { stdout } = await run("git", ask, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
    return stdout.split("\0").filter((path) => path !== "");
  } catch {
    return undefined;
  }
}

async function allFiles(root: string): Promise<string[]> {
  const files: string[] = [];
  const open = [""];
  for (let folder = open.shift(); folder !== undefined && files.length < MOST; folder = open.shift()) {
    for (const entry of await entriesOf(join(root, folder))) {
      const path = join(folder, entry.name);
      if (entry.isFile()) files.push(path);
      else if (entry.isDirectory() && !PASSED_OVER.has(entry.name)) open.push(path);
    }
  }
  return files;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    // It may not be read, or is gone.
    return [];
  }
}
