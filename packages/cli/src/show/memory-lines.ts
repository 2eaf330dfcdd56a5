import type { MemoryEntry } from "@banyan/host";
import { excerpt } from "./excerpt.ts";
import { oneLine } from "./plain-text.ts";
import { table } from "./table.ts";
import { formatTime } from "./time.ts";

const TEXT_WIDTH = 80;
const SOURCE_WIDTH = 60;

/** What is remembered, an entry on each line: its number, what kind it is, when and where it is from, what it says. */
export function memoryLines(entries: readonly MemoryEntry[]): string[] {
  return table(
    entries.map(({ id, kind, at, source, text }) => [
      String(id),
      kind,
      formatTime(at),
      excerpt(oneLine(text), TEXT_WIDTH),
      excerpt(source, SOURCE_WIDTH),
    ]),
  );
}
