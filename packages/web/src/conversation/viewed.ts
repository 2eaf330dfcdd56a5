import { type ConversationState, newestLeaf, pathTo, siblings } from "@banyan/core/conversation";
import { keep, kept } from "../shell/kept.ts";

/** Where the browser keeps them, for all conversations: what was in view longest ago makes room. */
const KEY = "viewed";

/** Versions that are remembered. */
const KEPT = 1_000;

/** Which leaf was last in view below each version of a message (W4). */
export class ViewedBranches {
  #leaves = new Map<string, string>();

  /** Notes that the branch of a leaf is in view. */
  note(tree: ConversationState, leaf: string): void {
    const versions = pathTo(tree, leaf).filter(({ id }) => siblings(tree, id).length > 1);
    if (versions.length === 0) return;
    this.#look();
    for (const { id } of versions) {
      this.#leaves.delete(id);
      this.#leaves.set(id, leaf);
    }
    this.#leaves = new Map([...this.#leaves].slice(-KEPT));
    keep(KEY, [...this.#leaves]);
  }

  /** The end of the branch that was last in view below a message; of the newest one when none was. */
  leafBelow(tree: ConversationState, message: string): string {
    this.#look();
    const seen = this.#leaves.get(message);
    const path = seen === undefined ? [] : pathTo(tree, seen);
    const isThere = path.some(({ id }) => id === message) && !path.some(({ removed }) => removed);
    return newestLeaf(tree, isThere && seen !== undefined ? seen : message);
  }

  /** Other windows write there too. */
  #look(): void {
    const leaves = kept(KEY) as [string, string][] | undefined;
    if (leaves) this.#leaves = new Map(leaves);
  }
}
