import type { DiffLine } from "@banyan/core/shown";
import { inPairs, type LinePair } from "./patch.ts";
import type { ShownFile } from "./shown-file.ts";

/** What stands on one row of a list of changes. */
export type DiffRow =
  | { readonly type: "file"; readonly file: ShownFile; readonly isOpen: boolean }
  | { readonly type: "line"; readonly line: DiffLine; readonly language: string }
  | { readonly type: "pair"; readonly pair: LinePair; readonly language: string }
  | { readonly type: "nothing" };

/** How the old and the new lines stand: below each other, or side by side. */
export type Layout = "unified" | "split";

/** All files one below the other, so that one window shows any number of them. */
export function rowsOf(files: readonly ShownFile[], closed: ReadonlySet<string>, layout: Layout): DiffRow[] {
  const rows: DiffRow[] = [];
  for (const file of files) {
    const isOpen = !closed.has(file.key);
    rows.push({ type: "file", file, isOpen });
    if (!isOpen) continue;
    const lines = file.lines();
    const language = file.path;
    if (lines.length === 0) rows.push({ type: "nothing" });
    else if (layout === "unified") for (const line of lines) rows.push({ type: "line", line, language });
    else for (const pair of inPairs(lines)) rows.push({ type: "pair", pair, language });
  }
  return rows;
}
