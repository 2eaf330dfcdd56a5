export { matchingFiles } from "./patterns.ts";

/** Milliseconds for which a list is good. */
const FRESH = 3_000;

/**
 * All files below a folder that git does not ignore, as paths from there. The list is made anew when it is older than three
 * seconds.
 */
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
    try {
      const { listFiles } = await import("@banyan/tools/workspace");
      return await listFiles(this.root);
    } finally {
      this.#until = performance.now() + FRESH;
    }
  }
}
