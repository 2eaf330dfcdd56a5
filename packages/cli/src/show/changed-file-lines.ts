import { counted } from "@banyan/core/shown";
import type { ChangedFile } from "@banyan/host";
import { excerpt } from "./excerpt.ts";
import { oneLine } from "./plain-text.ts";
import { table } from "./table.ts";

/** The files that a conversation has changed, one on each line, with the lines that came and went. */
export function changedFileLines(files: readonly ChangedFile[], title?: string): string[] {
  const of = title === undefined ? "" : ` by “${excerpt(title, 60)}”`;
  if (files.length === 0) return [`No file was changed${of}, or all are as they were.`];
  const rows = files.map(({ path, kind, added, removed }) => [kind, `+${added}`, `-${removed}`, oneLine(path)]);
  return [`${counted(files.length, "file")} changed${of}:`, ...table(rows).map((line) => `  ${line}`)];
}
