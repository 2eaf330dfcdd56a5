import type { ConversationState } from "@banyan/core/conversation";

/** A line of the outline: one message, or a run of messages without a branch. */
export interface OutlineRow {
  /** The last message of the run. */
  readonly id: string;
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
}

/**
 * The tree as rows, in order, without recursion: a chain of messages without a branch is one row, so that ten thousand
 * messages are as many rows as there are branches. What is below a closed row is left out.
 */
export function outlineRows(tree: ConversationState, closed: ReadonlySet<string>): OutlineRow[] {
  const rows: OutlineRow[] = [];
  const open: { id: string; level: number; parent: string | undefined; place: number; of: number }[] = [];
  const add = (children: readonly string[], level: number, parent: string | undefined) => {
    for (let index = children.length - 1; index >= 0; index--) {
      open.push({ id: children[index] as string, level, parent, place: index + 1, of: children.length });
    }
  };
  add(standing(tree, null), 1, undefined);
  for (let next = open.pop(); next; next = open.pop()) {
    let { id } = next;
    let messages = 1;
    let children = standing(tree, id);
    for (; children.length === 1; children = standing(tree, id), messages++) id = children[0] as string;
    const isOpen = !closed.has(id);
    const { level, parent, place, of } = next;
    rows.push({ id, level, messages, parent, place, of, hasChildren: children.length > 0, isOpen });
    if (isOpen) add(children, level + 1, id);
  }
  return rows;
}

function standing(tree: ConversationState, message: string | null): readonly string[] {
  return (tree.children.get(message) ?? []).filter((id) => !tree.messages.get(id)?.removed);
}
