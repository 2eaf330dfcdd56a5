import type { RecalledMemory } from "@banyan/core/conversation";
import { counted } from "@banyan/core/shown";
import type { MemoryEntry } from "@banyan/host";
import { excerptLine } from "./fit-text.ts";
import { plainLine } from "./plain-text.ts";
import { formatTime, table } from "./table.ts";

const TEXT_WIDTH = 80;
const SOURCE_WIDTH = 60;

/** Formats memories, one line each: number, kind, time, text and source. */
export function memoryLines(entries: readonly MemoryEntry[]): string[] {
  return table(
    entries.map(({ id, kind, at, source, text }) => [
      String(id),
      kind,
      formatTime(at),
      excerptLine(plainLine(text), TEXT_WIDTH),
      excerptLine(source, SOURCE_WIDTH),
    ]),
  );
}

/** Returns the notice about memories in the prompt (S26, T51). `shower`: the key or command that shows the memories. */
export function recalledLine(items: readonly RecalledMemory[], shower: string): string {
  const kept = items.filter(({ dismissed }) => !dismissed).length;
  return `Memory added ${counted(kept, "entry", "entries")} to the prompt (${shower} shows them).`;
}

/** Formats recalled memories, numbered, with sources, and a mark for memories that the user dismissed (W50). */
export function recalledLines(
  items: readonly RecalledMemory[],
  columns: number,
  dim: (text: string) => string,
): string[] {
  const room = Math.max(20, columns);
  return items.flatMap(({ text, source, dismissed }, index) => {
    const number = `${index + 1}. `;
    const from = dismissed ? `not used · ${source}` : source;
    const pad = " ".repeat(number.length);
    return [number + excerptLine(text, room - 2 - number.length), dim(pad + excerptLine(from, room - 2 - pad.length))];
  });
}
