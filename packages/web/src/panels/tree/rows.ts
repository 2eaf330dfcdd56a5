import type { ConversationState } from "@banyan/core/conversation";
import type { TreeMarks } from "./marks.ts";

/** A row of the outline and a node of the map: one message, or a chain of messages without a fork. */
export interface OutlineRow {
  /** The last message of the chain. */
  readonly id: string;
  /** The first message, which identifies the branch. */
  readonly first: string;
  /** The level in the tree, from 1 for a root. */
  readonly level: number;
  readonly messages: number;
  readonly parent: string | undefined;
  readonly hasChildren: boolean;
  readonly isOpen: boolean;
  /** The position among its siblings, from 1, and their number. */
  readonly place: number;
  readonly of: number;
  /** True if a run works in the row or, while the row is closed, below it. */
  readonly isRunning: boolean;
  readonly isWaiting: boolean;
  readonly hits: number;
}

/** The shown part of a tree, and its form. */
export interface TreeViewOptions {
  /** The closed rows, each identified by its last message. */
  readonly closed?: ReadonlySet<string>;
  /** The expanded chains, each identified by its first message. */
  readonly spread?: ReadonlySet<string>;
  /** Set to show only this message and the messages below it (W20). */
  readonly hoisted?: string | undefined;
  /** True to show only branches that lead to a starred message (W13). */
  readonly onlyStarred?: boolean;
}

interface PendingRow {
  readonly id: string;
  readonly level: number;
  readonly parent: string | undefined;
  readonly place: number;
  readonly of: number;
  readonly isSpread: boolean;
}

/**
 * Converts a tree to rows in order, without recursion. A chain of messages without a fork is one row, so that ten
 * thousand messages need few rows. A labelled or starred message ends its row. Branches with a starred message come
 * first. Leaves out rows below a closed row.
 */
export function outlineRows(tree: ConversationState, marks: TreeMarks, view: TreeViewOptions = {}): OutlineRow[] {
  const { closed = NONE, spread = NONE, hoisted, onlyStarred = false } = view;
  const below = (message: string | null) => {
    const standing = shownChildren(tree, message);
    if (marks.leadsToStar.size === 0 || (standing.length < 2 && !onlyStarred)) return onlyStarred ? [] : standing;
    const starred = standing.filter((id) => marks.leadsToStar.has(id));
    return onlyStarred ? starred : [...starred, ...standing.filter((id) => !marks.leadsToStar.has(id))];
  };
  const rows: OutlineRow[] = [];
  const open: PendingRow[] = [];
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

function shownChildren(tree: ConversationState, message: string | null): readonly string[] {
  const children = tree.children.get(message) ?? [];
  // Usually no message is removed: then the list need not be copied for each message.
  return tree.removals === 0 ? children : children.filter((id) => !tree.messages.get(id)?.removed);
}
