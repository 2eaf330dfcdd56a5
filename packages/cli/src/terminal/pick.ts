import type { Terminal } from "./contract/terminal.ts";
import type { PickerItem, PickerOptions } from "./full/views/picker.ts";

const LISTED = 20;

/**
 * Lets the user choose from a list: with a filter and a preview on a full terminal, or by number on a plain terminal.
 * Returns undefined without a choice, or if the signal aborts.
 */
export async function pick<T>(
  terminal: Terminal,
  list: PickerOptions<T>,
  signal?: AbortSignal,
): Promise<T | undefined> {
  const { live } = terminal;
  if (!live) return pickByLine(terminal, list, signal);
  const { Picker } = await import("./full/views/picker.ts");
  return live.open(new Picker(list, () => live.refresh()), signal);
}

async function pickByLine<T>(
  terminal: Terminal,
  { title, items, filter = "", selected, empty = "There is nothing.", search }: PickerOptions<T>,
  signal: AbortSignal | undefined,
): Promise<T | undefined> {
  const { style } = terminal;
  let words = filter;
  for (let again = false; ; again = true) {
    const named = words === "" ? [] : ((await search?.(words)) ?? []);
    const matching = items.filter((item) => matches(item, words) || named.includes(item.value));
    const found = matching.length === 0 ? items : matching;
    const shown = found.slice(0, LISTED);
    terminal.freshLine();
    if (items.length > 0 && matching.length === 0) terminal.write(`${style.dim("Nothing matches.")}\n`);
    terminal.write(`${style.bold(title)}\n`);
    const width = Math.min(WIDEST, Math.max(...shown.map(({ label }) => label.length)));
    for (const [index, item] of shown.entries())
      terminal.write(`${pickerLine(item, index + 1, { width, isSelected: item.value === selected })}\n`);
    if (found.length > LISTED)
      terminal.write(`${style.dim(`… and ${found.length - LISTED} more. Type words to find them`)}\n`);
    if (items.length === 0) {
      terminal.write(`${style.dim(empty)}\n`);
      return undefined;
    }
    const prompt = "Type a number or words to search for, or press Enter to go back: ";
    const line = (await terminal.ask({ prompt, again, ...(signal && { signal }) }))?.trim();
    if (line === undefined || line === "") return undefined;
    const item = shown[Number(line) - 1];
    if (item) return item.value;
    words = line;
  }
}

const WIDEST = 40;

function pickerLine(
  { label, help = "" }: PickerItem<unknown>,
  number: number,
  { width, isSelected }: { readonly width: number; readonly isSelected: boolean },
): string {
  const known = help === "" ? label : `${label.padEnd(width)}  ${help}`;
  return `${String(number).padStart(3)}  ${known}${isSelected ? "  (now)" : ""}`;
}

/** Returns whether an item's text contains all words, or its id begins with them. */
function matches({ label, help = "", id = "" }: PickerItem<unknown>, words: string): boolean {
  if (id.startsWith(words)) return true;
  const text = `${label} ${help}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
