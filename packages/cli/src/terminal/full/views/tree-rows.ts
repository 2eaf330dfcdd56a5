import { isRemoved } from "@banyan/client/actions";
import { type ConversationState, isUserMessage, leaves, type Message, pathTo, textOf } from "@banyan/core/conversation";

/** Kinds of messages that a tree shows. */
export type TreeFilter = "all" | "own" | "calls" | "starred";

/** All filters of a tree, in the order in which a key changes them. */
export const treeFilters: readonly TreeFilter[] = ["all", "own", "calls", "starred"];

export interface TreeRow {
  readonly id: string;
  /** Indentation level: replies to a message with several replies are indented. */
  readonly depth: number;
  readonly isFirst: boolean;
  /** Number of folded messages below; 0 if not folded. */
  readonly folded: number;
}

/** Filter, search and folds that decide which messages a tree shows. */
export interface TreeSelection {
  readonly filter: TreeFilter;
  readonly search: string;
  readonly folded: ReadonlySet<string>;
}

/**
 * Returns the rows of a tree from its root, branches in order of their beginning. No recursion: a path can have 100,000
 * messages. Leaves out messages of sub-agents and removed messages.
 */
export function treeRows(state: ConversationState, { filter, search, folded }: TreeSelection): TreeRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: TreeRow[] = [];
  const open = nodesBelow(state, null, 0);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const message = state.messages.get(node.id);
    if (!message) continue;
    const isFolded = folded.has(node.id) && words.length === 0;
    if (passes(message, filter) && contains(message, words))
      rows.push({
        id: node.id,
        depth: node.depth,
        isFirst: node.isFirst,
        folded: isFolded ? countMessagesBelow(state, node.id) : 0,
      });
    if (!isFolded) for (const next of nodesBelow(state, node.id, node.depth)) open.push(next);
  }
  return rows;
}

/** Returns the index of a message's row, or of its nearest visible ancestor's row. */
export function rowIndexOf(rows: readonly TreeRow[], state: ConversationState, message: string | null): number {
  const places = new Map(rows.map(({ id }, index) => [id, index]));
  for (const { id } of pathTo(state, message).reverse()) {
    const place = places.get(id);
    if (place !== undefined) return place;
  }
  return Math.max(0, rows.length - 1);
}

/** Returns the ids of the messages on the path to a leaf. */
export function pathIds(state: ConversationState, leaf: string | null): ReadonlySet<string> {
  return new Set(pathTo(state, leaf).map(({ id }) => id));
}

/** Returns the number of each branch by the branch's leaf. Empty if there is only one branch. */
export function branchNumbers(state: ConversationState): ReadonlyMap<string, number> {
  const ends = leaves(state).filter((id) => !isRemoved(state, id));
  return new Map(ends.length > 1 ? ends.map((id, index) => [id, index + 1]) : []);
}

interface TreeNode {
  readonly id: string;
  readonly depth: number;
  readonly isFirst: boolean;
}

/** The replies to a message, in reverse order. */
function nodesBelow(state: ConversationState, parent: string | null, depth: number): TreeNode[] {
  const children = (state.children.get(parent) ?? []).filter((id) => !state.messages.get(id)?.removed);
  const isApart = children.length > 1;
  return children.map((id) => ({ id, depth: isApart ? depth + 1 : depth, isFirst: isApart })).reverse();
}

function countMessagesBelow(state: ConversationState, message: string): number {
  let count = 0;
  const open = nodesBelow(state, message, 0);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    count++;
    for (const next of nodesBelow(state, node.id, 0)) open.push(next);
  }
  return count;
}

function passes(message: Message, filter: TreeFilter): boolean {
  switch (filter) {
    case "all":
      return true;
    case "own":
      return isUserMessage(message);
    case "calls":
      return message.role === "assistant" && message.calls.length > 0;
    case "starred":
      return message.starred === true || message.label !== undefined;
  }
}

function contains(message: Message, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const tools = message.role === "assistant" ? message.calls.map(({ tool }) => tool).join(" ") : "";
  const text = `${textOf(message)} ${message.label ?? ""} ${tools}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
