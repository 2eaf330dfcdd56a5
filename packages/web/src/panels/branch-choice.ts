import { type ConversationState, leaves, type Message, pathTo } from "@banyan/core/conversation";

/** A branch beside the one in view. */
export interface OtherBranch {
  readonly leaf: string;
  /** Its first message that is not on the branch in view. */
  readonly first: string;
}

/** The branches of the person's own conversation other than the one that ends at `leaf`, the nearest first. */
export function otherBranches(tree: ConversationState, leaf: string): OtherBranch[] {
  const depth = new Map(pathTo(tree, leaf).map(({ id }, index) => [id, index]));
  return leaves(tree)
    .filter((other) => !depth.has(other))
    .map((other) => {
      let first = other;
      let parent = tree.messages.get(first)?.parentId ?? null;
      for (; parent !== null && !depth.has(parent); parent = tree.messages.get(first)?.parentId ?? null) first = parent;
      return { leaf: other, first, shared: parent === null ? -1 : (depth.get(parent) ?? -1) };
    })
    .sort((a, b) => b.shared - a.shared);
}

/** Two branches from where they part. */
export interface Parting {
  /** The last message of both; none when they share nothing. */
  readonly ancestor: Message | undefined;
  readonly left: readonly Message[];
  readonly right: readonly Message[];
}

/** Where two branches part, and what each says after that. */
export function partingOf(tree: ConversationState, left: string, right: string): Parting {
  const [one, other] = [pathTo(tree, left), pathTo(tree, right)];
  let shared = 0;
  while (shared < one.length && one[shared] === other[shared]) shared++;
  return { ancestor: one[shared - 1], left: one.slice(shared), right: other.slice(shared) };
}
