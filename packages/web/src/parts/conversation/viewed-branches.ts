import { type ConversationState, newestLeaf, pathTo, siblings } from "@banyan/core/conversation";
import { keepValue, keptValue } from "../browser/kept-value.ts";

const KEY = "viewed";

const KEPT = 1_000;

/** Remembers the leaf that was last in view below each version of a message (W4). */
export class ViewedBranches {
  #leaves = new Map<string, string>();

  note(tree: ConversationState, leaf: string): void {
    const versions = pathTo(tree, leaf).filter(({ id }) => siblings(tree, id).length > 1);
    if (versions.length === 0) return;
    this.#look();
    for (const { id } of versions) {
      this.#leaves.delete(id);
      this.#leaves.set(id, leaf);
    }
    this.#leaves = new Map([...this.#leaves].slice(-KEPT));
    keepValue(KEY, [...this.#leaves]);
  }

  /** The end of the branch below a message that was last in view; by default, of the newest branch. */
  leafBelow(tree: ConversationState, message: string): string {
    this.#look();
    const seen = this.#leaves.get(message);
    const path = seen === undefined ? [] : pathTo(tree, seen);
    const isThere = path.some(({ id }) => id === message) && !path.some(({ removed }) => removed);
    return newestLeaf(tree, isThere && seen !== undefined ? seen : message);
  }

  #look(): void {
    const leaves = keptValue(KEY) as [string, string][] | undefined;
    if (leaves) this.#leaves = new Map(leaves);
  }
}
