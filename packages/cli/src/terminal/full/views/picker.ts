import { counted } from "@banyan/core/shown";
import { fuzzyFilter } from "@earendil-works/pi-tui/dist/fuzzy.js";
import type { KeyBindings } from "../keys/key-bindings.ts";
import { COLUMN_GAP, hintLine, keyHint, listLine, padLines, rule, wholeParts } from "../overlay/drawn-lines.ts";
import { LineInput } from "../overlay/line-input.ts";
import { ListCursor } from "../overlay/list-cursor.ts";
import type { Overlay, OverlayEnd, OverlayView } from "../overlay/overlay.ts";
import { cutToWidth, padToWidth, textWidth, wrapCells } from "../screen/cells.ts";
import type { ScreenSize } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";

/** An item of a {@link Picker}. */
export interface PickerItem<T> {
  readonly value: T;
  readonly label: string;
  /** Text after the label, if there is room. */
  readonly help?: string;
  /** A further name, such as an id. The filter compares only its beginning. */
  readonly id?: string;
}

/** A list to choose from: conversations, models, earlier texts. */
export interface PickerOptions<T> {
  readonly title: string;
  readonly items: readonly PickerItem<T>[];
  readonly selected?: T;
  readonly filter?: string;
  /** Details of the selected item, in lines of a width. The list then takes the whole screen. */
  preview?(item: T, width: number, theme: Theme): readonly string[];
  /** Finds items whose visible text does not match; they follow the matching ones. */
  search?(text: string): Promise<readonly T[]>;
  readonly empty?: string;
}

/** Minimum columns for a preview next to the list. */
const BESIDE = 100;
const LEAST_NAME = 0.4;
/** Minimum columns for help texts; narrower ones are left out. */
const LEAST_HELP = 12;
const MOST_ROWS = 12;

/** A list with a filter, and a preview of the selected item. */
export class Picker<T> implements Overlay<T> {
  readonly isFull: boolean;
  readonly #options: PickerOptions<T>;
  readonly #filter: LineInput;
  readonly #cursor: ListCursor;
  readonly #changed: () => void;
  #found: readonly PickerItem<T>[];
  #named: ReadonlySet<T> = new Set();

  /** `changed` is called when a search has found items. */
  constructor(options: PickerOptions<T>, changed: () => void = () => {}) {
    this.#options = options;
    this.#changed = changed;
    this.isFull = options.preview !== undefined;
    this.#filter = new LineInput(options.filter);
    this.#found = this.#matching();
    this.#cursor = new ListCursor(
      Math.max(
        0,
        this.#found.findIndex(({ value }) => value === options.selected),
      ),
    );
  }

  view({ columns, rows }: ScreenSize, theme: Theme, _isArmed: boolean, keys: KeyBindings): OverlayView {
    const { title, items, preview, empty = "There is nothing." } = this.#options;
    const count =
      this.#found.length === items.length
        ? counted(items.length, "entry", "entries")
        : `${this.#found.length} of ${items.length}`;
    const head = rule(theme.bold(title), columns, theme, theme.dim(count));
    const label = "filter: ";
    const input = theme.dim(label) + cutToWidth(this.#filter.text, columns - label.length - 1);
    const cursor = { row: 1, column: Math.min(columns - 1, label.length + textWidth(this.#filter.text)) };
    const hints = [
      keyHint(keys, "list-choose", "chooses"),
      keyHint(keys, "list-cancel", "goes back"),
      "type to filter",
    ];
    const foot = theme.dim(hintLine(hints, columns));
    const room = Math.max(1, (this.isFull ? rows : Math.min(rows - 1, MOST_ROWS)) - 3);
    const isBeside = preview !== undefined && columns >= BESIDE;
    const listRows = preview && !isBeside ? Math.max(1, Math.ceil(room / 2)) : room;
    const listColumns = isBeside ? Math.floor(columns * 0.45) : columns;
    const list = this.#list(listRows, listColumns, theme, empty);
    if (!preview) return { lines: [head, input, ...list, foot], cursor };
    const current = this.#found[this.#cursor.index];
    const width = isBeside ? columns - listColumns - 3 : columns;
    const shown = current ? preview(current.value, width, theme).flatMap((line) => wrapCells(line, width)) : [];
    const body = isBeside
      ? padLines(list, room).map(
          (line, row) => `${padToWidth(line, listColumns)} ${theme.dim("│")} ${shown[row] ?? ""}`,
        )
      : padLines([...list, theme.dim("─".repeat(columns)), ...shown].slice(0, room), room);
    return { lines: [head, input, ...body, foot], cursor };
  }

  key(key: string, keys: KeyBindings): OverlayEnd<T> | undefined {
    if (keys.matches(key, "list-cancel")) return {};
    if (keys.matches(key, "list-choose")) {
      const item = this.#found[this.#cursor.index];
      return item ? { result: item.value } : undefined;
    }
    if (this.#cursor.key(key, keys, this.#found.length)) return undefined;
    if (this.#filter.key(key, keys)) {
      this.#found = this.#matching();
      this.#cursor.index = 0;
      // If the search fails, the list still works.
      this.#search().catch(() => {});
    }
    return undefined;
  }

  #matching(): readonly PickerItem<T>[] {
    const { items } = this.#options;
    const { text } = this.#filter;
    const shown = fuzzyFilter([...items], text, ({ label, help = "" }) => `${label} ${help}`);
    if (text.trim() === "") return shown;
    // Not fuzzily: a short word's letters occur in most random ids.
    const isMeant = ({ value, id = "" }: PickerItem<T>) => id.startsWith(text.trim()) || this.#named.has(value);
    return [...shown, ...items.filter((item) => isMeant(item) && !shown.includes(item))];
  }

  async #search(): Promise<void> {
    const { search } = this.#options;
    const { text } = this.#filter;
    if (!search || text.trim() === "") return;
    const named = new Set(await search(text));
    // The user has typed on: a later search counts.
    if (this.#filter.text !== text) return;
    this.#named = named;
    this.#found = this.#matching();
    this.#changed();
  }

  #list(rows: number, columns: number, theme: Theme, empty: string): string[] {
    if (this.#found.length === 0)
      return [theme.dim(cutToWidth(this.#filter.text === "" ? empty : "Nothing matches.", columns))];
    const room = columns - 2;
    const widest = (texts: readonly string[]) => Math.max(...texts.map(textWidth));
    const beside = room - 2 - widest(this.#found.map(({ help = "" }) => help));
    const labels = this.#found.map(({ label }) => label);
    const needed = widest(labels);
    const kept = Math.min(Math.max(Math.floor(room * LEAST_NAME), beside), needed);
    // Labels must stay distinguishable.
    const distinct = new Set(labels.map((label) => cutToWidth(label, kept))).size;
    const width = distinct < new Set(labels).size ? Math.min(needed, room) : kept;
    return this.#cursor.window(this.#found, rows).map(({ item: { label, help = "" }, isCurrent }) => {
      const isAlone = help === "" || room - width - 2 < LEAST_HELP;
      const line = isAlone
        ? label
        : `${padToWidth(cutToWidth(label, width), width)}  ${theme.dim(wholeParts(help, COLUMN_GAP, room - width - 2))}`;
      return listLine(cutToWidth(line, room), isCurrent, columns, theme);
    });
  }
}
