import type { ConversationState } from "@banyan/core/conversation";
import type { Marks } from "./marks.ts";

/** A line of the outline and a node of the map: one message, or a run of messages without a branch. */
export interface OutlineRow {
  /** The last message of the run. */
  readonly id: string;
  /** The first one: by it branches differ. */
  readonly first: string;
  /** From 1 for a root. */
  readonly level: number;
  /** How many messages it stands for. */
  readonly messages: number;
  /** The row under which it hangs. */
  readonly parent: string | undefined;
  readonly hasChildren: boolean;
  readonly isOpen: boolean;
  /** Its place among its siblings, from 1, and how many there are. */
  readonly place: number;
  readonly of: number;
  /** Something runs in it, or below it while it is closed. */
  readonly isRunning: boolean;
  /** Something waits for a person there. */
  readonly isWaiting: boolean;
  /** How many of its messages a search has found. */
  readonly hits: number;
}

/** What of a tree is shown, and how. */
export interface TreeView {
  /** Rows whose children are not shown, by their last message. */
  readonly closed?: ReadonlySet<string>;
  /** Runs that are shown message by message, by their first one. */
  readonly spread?: ReadonlySet<string>;
  /** Only what hangs on this message, itself included (W20). */
  readonly hoisted?: string | undefined;
  /** Only what leads to a starred message (W13). */
  readonly onlyStarred?: boolean;
}

interface Pending {
  readonly id: string;
  readonly level: number;
  readonly parent: string | undefined;
  readonly place: number;
  readonly of: number;
  /** It is one of a run that is shown message by message. */
  readonly isSpread: boolean;
}

/**
 * The tree as rows, in order, without recursion: a chain of messages without a branch is one row, so that ten thousand
 * messages are as many rows as there are branches. A message with a name or a star ends its row. Branches with a starred
 * message come first. What is below a closed row is left out.
 */
export function outlineRows(tree: ConversationState, marks: Marks, view: TreeView = {}): OutlineRow[] {
  const { closed = NONE, spread = NONE, hoisted, onlyStarred = false } = view;
  const below = (message: string | null) => {
    const standing = childrenOf(tree, message);
    if (marks.leadsToStar.size === 0 || (standing.length < 2 && !onlyStarred)) return onlyStarred ? [] : standing;
    const starred = standing.filter((id) => marks.leadsToStar.has(id));
    return onlyStarred ? starred : [...starred, ...standing.filter((id) => !marks.leadsToStar.has(id))];
  };
  const rows: OutlineRow[] = [];
  const open: Pending[] = [];
  const add = (children: readonly string[], level: number, parent: string | undefined, isSpread: boolean) => {
    for (let index = children.length - 1; index >= 0; index--) {
      open.push({ id: children[index] as string, level, parent, place: index + 1, of: children.length, isSpread });
    }
  };
  add(hoisted !== undefined && tree.messages.has(hoisted) ? [hoisted] : below(null), 1, undefined, false);
  for (let next = open.pop(); next; next = open.pop()) {
    const { id: first, level, parent, place, of } = next;
    const isSpread = spread.has(first) || (next.isSpread && of === 1);
    let id = first;
    let messages = 1;
    let isRunning = marks.running.has(id);
    let isWaiting = marks.waiting.has(id);
    let hits = marks.hits.has(id) ? 1 : 0;
    let children = below(id);
    while (children.length === 1 && !isSpread && !isMarked(tree, id)) {
      id = children[0] as string;
      messages++;
      if (marks.running.has(id)) isRunning = true;
      if (marks.waiting.has(id)) isWaiting = true;
      if (marks.hits.has(id)) hits++;
      children = below(id);
    }
    const hasChildren = children.length > 0;
    const isOpen = !closed.has(id);
    if (!isOpen && marks.aboveRunning.has(id)) isRunning = true;
    if (!isOpen && marks.aboveWaiting.has(id)) isWaiting = true;
    rows.push({ id, first, level, messages, parent, place, of, hasChildren, isOpen, isRunning, isWaiting, hits });
    if (isOpen) add(children, level + 1, id, isSpread);
  }
  return rows;
}

const NONE: ReadonlySet<string> = new Set();

function isMarked(tree: ConversationState, id: string): boolean {
  const message = tree.messages.get(id);
  return message?.starred === true || message?.label !== undefined;
}

function childrenOf(tree: ConversationState, message: string | null): readonly string[] {
  const children = tree.children.get(message) ?? [];
  // As a rule nothing is removed: then the list is not made anew for each message.
  return tree.removals === 0 ? children : children.filter((id) => !tree.messages.get(id)?.removed);
}
