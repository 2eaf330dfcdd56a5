import { type HierarchyPointNode, hierarchy, tree } from "d3-hierarchy";
import type { OutlineRow } from "./rows.ts";

/** The size of a node, and the distance between nodes, in pixels. */
export const NODE = { width: 168, height: 34 } as const;
const STEP = { across: 208, down: 46 } as const;

export interface MapNode {
  readonly row: OutlineRow;
  readonly x: number;
  readonly y: number;
}

/** The lines from a node to its children: a stem, and a branch to each child. */
export interface MapFork {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  /** The x position where the branches begin. */
  readonly stem: number;
  readonly top: number;
  readonly bottom: number;
}

/** The layout of a tree from left to right. */
export interface MapLayout {
  readonly nodes: readonly MapNode[];
  readonly forks: readonly MapFork[];
  readonly width: number;
  /** The smallest and the largest `y`. */
  readonly top: number;
  readonly bottom: number;
}

interface Item {
  readonly row: OutlineRow | undefined;
  readonly children: Item[];
}

/** Lays out the rows of a tree. d3 works without recursion, so that chains may have any depth. */
export function layOut(rows: readonly OutlineRow[]): MapLayout {
  const root: Item = { row: undefined, children: [] };
  const items = new Map<string, Item>();
  for (const row of rows) {
    const item: Item = { row, children: [] };
    items.set(row.id, item);
    (items.get(row.parent ?? "") ?? root).children.push(item);
  }
  const placed = tree<Item>()
    .nodeSize([STEP.down, STEP.across])
    .separation(() => 1)(hierarchy(root));
  const nodes: MapNode[] = [];
  const forks: MapFork[] = [];
  let [width, top, bottom] = [0, 0, 0];
  placed.eachBefore((node) => {
    const { row } = node.data;
    if (!row) return;
    const { x, y } = cornerOf(node);
    nodes.push({ row, x, y });
    width = Math.max(width, x + NODE.width);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y + NODE.height);
    const [first, last] = [node.children?.[0], node.children?.at(-1)];
    if (!first || !last) return;
    const stem = x + STEP.across - (STEP.across - NODE.width) / 2;
    forks.push({
      id: row.id,
      x: x + NODE.width,
      y: middle(y),
      stem,
      top: middle(cornerOf(first).y),
      bottom: middle(cornerOf(last).y),
    });
  });
  return { nodes, forks, width, top, bottom };
}

/** Returns the SVG path of the line from a fork to its child node. */
export function branchTo({ x, y }: MapNode): string {
  return `M${x - (STEP.across - NODE.width) / 2} ${middle(y)}H${x}`;
}

/** d3 lays out from top to bottom; the hidden root is left of all nodes. */
function cornerOf({ x, y }: HierarchyPointNode<Item>): { readonly x: number; readonly y: number } {
  return { x: y - STEP.across, y: x };
}

function middle(y: number): number {
  return y + NODE.height / 2;
}
