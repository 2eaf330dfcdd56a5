import { type ConversationState, newestLeaf, pathTo, siblings } from "@banyan/core/conversation";
import { keep, kept } from "../shell/kept.ts";

/** Branch points that are remembered for a conversation. */
const KEPT = 500;

/** Which leaf was last in view below each version of a message; kept in the browser (W4). */
export class ViewedBranches {
  readonly #key: string;
  readonly #leaves: Map<string, string>;

  constructor(conversation: string) {
    this.#key = `viewed ${conversation}`;
    this.#leaves = new Map((kept(this.#key) as [string, string][] | undefined) ?? []);
  }

  /** Notes that the branch of a leaf is in view. */
  note(tree: ConversationState, leaf: string): void {
    for (const { id } of pathTo(tree, leaf)) {
      if (siblings(tree, id).length < 2) continue;
      this.#leaves.delete(id);
      this.#leaves.set(id, leaf);
    }
    for (const oldest of this.#leaves.keys()) {
      if (this.#leaves.size <= KEPT) break;
      this.#leaves.delete(oldest);
    }
    if (this.#leaves.size > 0) keep(this.#key, [...this.#leaves]);
  }

  /** The end of the branch that was last in view below a message; of the newest one when none was. */
  leafBelow(tree: ConversationState, message: string): string {
    const seen = this.#leaves.get(message);
    const isThere = seen !== undefined && pathTo(tree, seen).some(({ id }) => id === message);
    const isGone = seen !== undefined && pathTo(tree, seen).some(({ removed }) => removed);
    return newestLeaf(tree, isThere && !isGone ? seen : message);
  }
}
