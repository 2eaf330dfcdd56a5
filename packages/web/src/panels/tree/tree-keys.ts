import type { KeyboardEvent } from "react";
import { ARROWS } from "../../parts/phrases/phrases.ts";
import type { OutlineRow } from "./rows.ts";

/** The position and actions that the keys of a tree view use. */
export interface TreeKeys {
  readonly rows: readonly OutlineRow[];
  readonly at: number;
  readonly wordsOf: (row: OutlineRow) => string;
  readonly move: (place: number) => void;
  readonly setOpen: (row: OutlineRow, isOpen: boolean) => void;
  readonly select: (row: OutlineRow) => void;
}

/** Handles the keys of a tree view as in the ARIA Authoring Practices (W18). */
export function onTreeKey(event: KeyboardEvent, { rows, at, wordsOf, move, setOpen, select }: TreeKeys): void {
  const row = rows[at];
  if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
  switch (event.key) {
    case "ArrowDown":
      move(at + 1);
      break;
    case "ArrowUp":
      move(at - 1);
      break;
    case "Home":
      move(0);
      break;
    case "End":
      move(rows.length - 1);
      break;
    case "Enter":
      select(row);
      break;
    case ARROWS.on:
      if (!row.hasChildren) break;
      if (row.isOpen) move(at + 1);
      else setOpen(row, true);
      break;
    case ARROWS.back:
      if (row.hasChildren && row.isOpen) setOpen(row, false);
      else if (row.parent !== undefined) move(rows.findIndex(({ id }) => id === row.parent));
      break;
    default: {
      if (event.key.length !== 1 || event.key === " ") return;
      const wanted = event.key.toLowerCase();
      const order = [...rows.slice(at + 1), ...rows.slice(0, at)];
      const hit = order.find((other) => wordsOf(other).toLowerCase().startsWith(wanted));
      if (hit) move(rows.indexOf(hit));
    }
  }
  event.preventDefault();
  event.stopPropagation();
}
