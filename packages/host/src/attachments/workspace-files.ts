export { matchingFiles } from "./patterns.ts";

const FRESH = 3_000;

/** Lists the files below a folder that git does not ignore, as relative paths. Keeps a list for three seconds. */
export class WorkspaceFiles {
  readonly root: string;
  #listed: Promise<readonly string[]> | undefined;
  #until = 0;

  constructor(root: string) {
    this.root = root;
  }

  /** Sorted, without unreadable folders. */
  list(): Promise<readonly string[]> {
    if (!this.#listed || performance.now() > this.#until) this.#listed = this.#list();
    return this.#listed;
  }

  async #list(): Promise<readonly string[]> {
    this.#until = Number.POSITIVE_INFINITY;
    try {
      const { listFiles } = await import("@banyan/tools/workspace");
      return await listFiles(this.root);
    } finally {
      this.#until = performance.now() + FRESH;
    }
  }
}
