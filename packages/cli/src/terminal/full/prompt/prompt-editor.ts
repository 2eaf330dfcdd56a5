import { counted } from "@banyan/core/shown";
import type { AutocompleteProvider, TUI } from "@earendil-works/pi-tui";
import { Editor } from "@earendil-works/pi-tui/dist/components/editor.js";
import { KeybindingsManager, setKeybindings, TUI_KEYBINDINGS } from "@earendil-works/pi-tui/dist/keybindings.js";
import { matchesKey } from "@earendil-works/pi-tui/dist/keys.js";
import { CURSOR_MARKER } from "@earendil-works/pi-tui/dist/tui.js";
import type { KeyBindings } from "../keys/key-bindings.ts";
import { characterOf } from "../keys/keyboard.ts";
import { listLine } from "../overlay/drawn-lines.ts";
import { cutToWidth, paintedAt, textWidth, withoutColors } from "../screen/cells.ts";
import type { ScreenPosition } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";
import type { Completion } from "./completion.ts";
import { drawHeldLine, fromHeldText, toHeldText } from "./held-text.ts";
import { Vim, type VimMode, type VimStep } from "./vim.ts";
import type { TextWithCursor } from "./vim-motions.ts";

export interface PromptEditorOptions {
  readonly keys: KeyBindings;
  readonly completion: AutocompleteProvider & Partial<Pick<Completion, "completed" | "isMeant">>;
  /** True to use vi's keys (T56). */
  readonly vim?: boolean;
  theme(): Theme;
  /** The user sent the text; long pastes are included in full. */
  onSend(text: string): void;
  onChange(): void;
}

export interface EditorLines {
  readonly lines: readonly string[];
  readonly cursor: ScreenPosition;
  readonly above: number;
  readonly below: number;
  /** Completions of the word before the cursor, one per line. */
  readonly suggestions: readonly string[];
}

/**
 * The editor of the prompt: several lines, history, undo, completion, and long pastes as one piece. The library pi-tui
 * edits the text. This class adds keys, and draws the text without a border and with the terminal's own cursor.
 */
export class PromptEditor {
  readonly #options: PromptEditorOptions;
  readonly #editor: FramelessEditor;
  readonly #surroundings = { rows: 24, columns: 80 };
  readonly #vim: Vim | undefined;
  /** The text before the last key: the library trims the text that it sends. */
  #before = "";

  constructor(options: PromptEditorOptions) {
    this.#options = options;
    const { theme, vim = false } = options;
    this.#vim = vim ? new Vim() : undefined;
    // The library uses only these two members.
    const tui = { terminal: this.#surroundings, requestRender: () => options.onChange() } as unknown as TUI;
    const same = (text: string) => text;
    this.#editor = new FramelessEditor(tui, {
      borderColor: same,
      selectList: {
        selectedPrefix: same,
        selectedText: (text) => listLine(text.slice(SIGN.length), true, this.#surroundings.columns, theme()),
        description: (text) => theme().dim(text),
        scrollInfo: (text) => theme().dim(text),
        noMatch: (text) => theme().dim(text),
      },
    });
    this.#editor.focused = true;
    this.#editor.setAutocompleteProvider(options.completion);
    this.#editor.onSubmit = () => {
      this.#vim?.insert();
      options.onSend(sent(this.#before));
    };
    this.#editor.onChange = () => options.onChange();
  }

  /** The text with long pastes in full. */
  get text(): string {
    return fromHeldText(this.#editor.getExpandedText());
  }

  get isEmpty(): boolean {
    return this.#editor.getText() === "";
  }

  /** True if suggestions are listed, which get keys first. */
  get isCompleting(): boolean {
    return this.#editor.isShowingAutocomplete();
  }

  /** Arguments of a completed command without other text. */
  get takes(): string | undefined {
    const { completed } = this.#options.completion;
    return completed?.text === this.text.trim() ? completed.takes : undefined;
  }

  get mode(): VimMode | undefined {
    return this.#vim?.mode;
  }

  /** Size of the selection, in words; undefined without a selection. */
  get selection(): string | undefined {
    const { place } = this.#editor;
    const range = this.#vim?.selected(place);
    if (!range) return undefined;
    const text = fromHeldText(place.text.slice(...range));
    const lines = text.split("\n").length;
    return `${counted(text.length, "character")} selected${lines > 1 ? `, ${counted(lines, "line")}` : ""}`;
  }

  /** Replaces the text. Undo restores the old text. */
  set(text: string): void {
    this.#vim?.deselect();
    this.#editor.setText(toHeldText(text));
  }

  take(): string {
    const text = sent(this.#editor.getExpandedText());
    this.#editor.setText("");
    this.#vim?.insert();
    return text;
  }

  expandPastes(): void {
    const whole = this.#editor.getExpandedText();
    if (whole !== this.#editor.getText()) this.#editor.setText(whole);
  }

  remember(text: string): void {
    this.#editor.addToHistory(toHeldText(text));
  }

  key(key: string): void {
    const { keys, onChange } = this.#options;
    if (this.#vim && this.#vimKey(this.#vim, key)) return onChange();
    // The library keeps its bindings globally for all editors.
    setKeybindings(keys.editor);
    this.#before = this.#editor.getExpandedText();
    const before = this.text.trim();
    const completes = this.isCompleting && before.startsWith("/") && keys.matches(key, "send");
    // Enter completes a partly typed command without sending it, unless only one command is possible.
    this.#editor.disableSubmit = completes;
    this.#editor.handleInput(key);
    this.#editor.disableSubmit = false;
    const after = this.text.trim();
    if (after !== before) this.#vim?.deselect();
    if (completes && (after === before || this.#options.completion.isMeant?.(before, after))) {
      this.#stopCompleting();
      this.#before = this.#editor.getExpandedText();
      this.#editor.handleInput(key);
    }
    // The library updates suggestions only after typing.
    else if (after !== before && characterOf(key) === undefined && !keys.matches(key, "delete-back"))
      this.#stopCompleting();
    if (this.mode === "normal") this.#carryOut(this.#vim?.settled(this.#editor.place));
    onChange();
  }

  /** Handles a key in vi mode. Returns whether it was a vi key. */
  #vimKey(vim: Vim, key: string): boolean {
    if (this.isCompleting) return false;
    const { place } = this.#editor;
    if (matchesKey(key, "escape")) {
      this.#carryOut(vim.escape(place));
      return true;
    }
    const character = VIM_KEYS.find(([name]) => matchesKey(key, name))?.[1] ?? characterOf(key);
    if (vim.mode === "insert" || character === undefined) return false;
    this.#carryOut(vim.key(character, place));
    if (vim.mode === "normal") this.#carryOut(vim.settled(this.#editor.place));
    return true;
  }

  #carryOut(step: VimStep): void {
    if (step === "undo") this.#editor.takeBack();
    else if (typeof step === "object") this.#editor.replace(step);
    else if (step !== undefined) {
      setKeybindings(USUAL_KEYS);
      this.#editor.handleInput(step === "up" ? "\x1b[A" : "\x1b[B");
    }
  }

  #stopCompleting(): void {
    // The library offers no other way to close suggestions.
    if (this.isCompleting) this.#editor.setAutocompleteProvider(this.#options.completion);
  }

  /** Handles a paste. More than 10 lines appear as `[paste #1 +50 lines]` until the text is sent (T9, T62). */
  paste(text: string): void {
    this.#vim?.deselect();
    // A final line end must not begin another line.
    this.#editor.handleInput(`\x1b[200~${toHeldText(withControls(text)).replace(/\n$/, "")}\x1b[201~`);
  }

  /** The lines for a width: those around the cursor, more on a larger terminal. */
  lines(width: number, rows: number): EditorLines {
    Object.assign(this.#surroundings, { rows, columns: width });
    this.#editor.setAutocompleteMaxVisible(Math.min(MOST_SUGGESTIONS, Math.floor(rows / 4)));
    const [top = "", ...rest] = this.#editor.render(Math.max(2, width));
    const bottom = rest.findIndex((line) => line.startsWith(FRAME));
    let cursor: ScreenPosition = { row: 0, column: 0 };
    const lines = rest.slice(0, bottom).map((line, row) => {
      const at = line.indexOf(CURSOR_MARKER);
      if (at < 0) return drawHeldLine(line).trimEnd();
      const before = line.slice(0, at);
      cursor = { row, column: textWidth(before) };
      return drawHeldLine(before + line.slice(at + CURSOR_MARKER.length).replace(PAINTED_CURSOR, "$1")).trimEnd();
    });
    // The library resets colours where it cuts a line, even without colours.
    const hasColors = this.#options.theme().depth > 1;
    const suggestions = rest.slice(bottom + 1).map((line) => {
      const shown = hasColors ? line : withoutColors(line);
      const isCut = textWidth(withoutColors(line).trimEnd()) === width - KEPT_FREE;
      return (isCut ? cutToWidth(shown, width - KEPT_FREE) : shown).trimEnd();
    });
    const above = framed(top);
    return { lines: this.#marked(lines, above), cursor, above, below: framed(rest[bottom] ?? ""), suggestions };
  }

  /** Paints the selection in the lines. `above` lines of the text precede them. */
  #marked(lines: readonly string[], above: number): readonly string[] {
    const { place } = this.#editor;
    const range = this.#vim?.selected(place);
    if (!range) return lines;
    const { selected } = this.#options.theme();
    const rows = this.#editor.rows.slice(above);
    return lines.map((line, index) => {
      const { at = 0, length = 0 } = rows[index] ?? {};
      const [from, to] = [Math.max(range[0], at), Math.min(range[1], at + length)];
      const isEmpty = length === 0 && range[0] <= at && at <= range[1];
      if (to <= from && !isEmpty) return line;
      const column = textWidth(place.text.slice(at, from));
      return paintedAt(line, column, selected, Math.max(1, textWidth(place.text.slice(from, to))));
    });
  }
}

/** The text to send, without white space at its end; empty if blank. White space at its beginning stays. */
function sent(text: string): string {
  const written = fromHeldText(text.trimEnd());
  return written.trim() === "" ? "" : written;
}

/** Decodes control characters that tmux pasted as keys with Ctrl, such as `ESC [ 106 ; 5 u`. */
function withControls(paste: string): string {
  return paste.replaceAll(CONTROL_KEY, (_, code: string) => String.fromCharCode(Number(code) & 0x1f));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the key begins with Esc
const CONTROL_KEY = /\x1b\[(6[5-9]|[78]\d|90|9[7-9]|1[01]\d|12[0-2]);5u/g;

/** Describes hidden lines, such as `115 lines above, 2 below`. */
export function hiddenLines(above: number, below: number): string {
  return `${counted(above, "line")} above, ${below} below`;
}

/** Columns that the library leaves free after a suggestion: one that reaches them was cut without an ellipsis. */
const KEPT_FREE = 2;
const MOST_SUGGESTIONS = 10;
/** Sign that the library puts before the selected suggestion. */
const SIGN = "→ ";
const FRAME = "\0";
// biome-ignore lint/suspicious/noControlCharactersInRegex: the editor paints its cursor with these
const PAINTED_CURSOR = /^\x1b\[7m(.*?)\x1b\[0m/s;

const USUAL_KEYS = new KeybindingsManager(TUI_KEYBINDINGS);

/** vi letters for keys that are not letters. */
const VIM_KEYS = [
  ["backspace", "h"],
  ["delete", "x"],
] as const;

/** Private members of the library, which has no public way to place the cursor. The dependency's version is pinned. */
interface EditorInside {
  readonly state: { lines: string[]; cursorLine: number };
  readonly history: string[];
  lastAction: null;
  setCursorCol(column: number): void;
  pushUndoSnapshot(): void;
  exitHistoryBrowsing(): void;
  undo(): void;
  readonly lastWidth: number;
  buildVisualLineMap(
    width: number,
  ): readonly { readonly logicalLine: number; readonly startCol: number; readonly length: number }[];
}

/** An editor with two lines for the hidden counts in place of its frame. */
class FramelessEditor extends Editor {
  /** The text with collapsed pastes, and the offset of the cursor. */
  get place(): TextWithCursor {
    const { line, col } = this.getCursor();
    const above = this.getLines().slice(0, line);
    return { text: this.getText(), at: above.reduce((sum, { length }) => sum + length + 1, col) };
  }

  /** Replaces the text as one undo step, or moves the cursor. */
  replace({ text, at }: TextWithCursor): void {
    const { place } = this;
    if (text === place.text && at === place.at) return;
    const inside = this as unknown as EditorInside;
    inside.lastAction = null;
    if (text !== place.text) {
      inside.exitHistoryBrowsing();
      inside.pushUndoSnapshot();
      inside.state.lines = text.split("\n");
    }
    const before = text.slice(0, at).split("\n");
    inside.state.cursorLine = before.length - 1;
    inside.setCursorCol(before.at(-1)?.length ?? 0);
  }

  /** The part of the text in each drawn row. */
  get rows(): readonly { readonly at: number; readonly length: number }[] {
    const inside = this as unknown as EditorInside;
    let next = 0;
    const starts = this.getLines().map(({ length }) => {
      const start = next;
      next += length + 1;
      return start;
    });
    return inside
      .buildVisualLineMap(inside.lastWidth)
      .map(({ logicalLine, startCol, length }) => ({ at: (starts[logicalLine] ?? 0) + startCol, length }));
  }

  /** The library trims history entries: restore the full text. */
  override addToHistory(text: string): void {
    const { history } = this as unknown as EditorInside;
    if (history[0] === text) return;
    super.addToHistory(text);
    if (history[0] === text.trim()) history[0] = text;
  }

  takeBack(): void {
    (this as unknown as EditorInside).undo();
  }

  protected override renderTopBorder(_width: number, hidden: number): string {
    return FRAME + hidden;
  }

  protected override renderBottomBorder(_width: number, hidden: number): string {
    return FRAME + hidden;
  }
}

function framed(line: string): number {
  return Number(line.slice(FRAME.length));
}
