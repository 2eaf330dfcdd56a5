import { counted } from "@banyan/core/shown";
import type { AutocompleteProvider, TUI } from "@earendil-works/pi-tui";
import { Editor } from "@earendil-works/pi-tui/dist/components/editor.js";
import { KeybindingsManager, setKeybindings, TUI_KEYBINDINGS } from "@earendil-works/pi-tui/dist/keybindings.js";
import { matchesKey } from "@earendil-works/pi-tui/dist/keys.js";
import { CURSOR_MARKER } from "@earendil-works/pi-tui/dist/tui.js";
import type { KeyBindings } from "../keys/key-bindings.ts";
import { characterOf } from "../keys/keyboard.ts";
import { bare, cut, paintedAt, widthOf } from "../screen/cells.ts";
import type { Position } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";
import { listLine } from "../views/drawn-lines.ts";
import type { Completion } from "./completion.ts";
import { asWritten, drawn, held } from "./held-text.ts";
import { type TextAt, Vim, type VimMode, type VimStep } from "./vim.ts";

/** What a prompt editor is made of. */
export interface PromptEditorOptions {
  readonly keys: KeyBindings;
  readonly completion: AutocompleteProvider & Partial<Pick<Completion, "completed" | "isMeant">>;
  /** The keys of vi (T56). */
  readonly vim?: boolean;
  /** As it is now. */
  theme(): Theme;
  /** The text was ended with the key for it; long pastes are in it in full. */
  onSend(text: string): void;
  /** The text is another, or what is suggested for it. */
  onChange(): void;
}

/** The text as it is shown. */
export interface EditorLines {
  readonly lines: readonly string[];
  readonly cursor: Position;
  /** Lines that do not fit, above and below. */
  readonly above: number;
  readonly below: number;
  /** What the word before the cursor can be completed to, a line each. */
  readonly suggestions: readonly string[];
}

/**
 * The text that a person writes: several lines, history, undo, words that are completed, long pastes as one piece. The
 * editing is pi-tui's; this hands it its keys and shows its lines in our way: no frame, and the terminal's own cursor.
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
    // The editor asks its surroundings for these two things only.
    const tui = { terminal: this.#surroundings, requestRender: () => options.onChange() } as unknown as TUI;
    const same = (text: string) => text;
    this.#editor = new FramelessEditor(tui, {
      borderColor: same,
      selectList: {
        selectedPrefix: same,
        // The library's own sign before it is not that of the other lists here.
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

  /** With long pastes in full. */
  get text(): string {
    return asWritten(this.#editor.getExpandedText());
  }

  get isEmpty(): boolean {
    return this.#editor.getText() === "";
  }

  /** Whether suggestions are listed, so that keys are about them first. */
  get isCompleting(): boolean {
    return this.#editor.isShowingAutocomplete();
  }

  /** What may or must follow the command that was completed and stands there alone. */
  get takes(): string | undefined {
    const { completed } = this.#options.completion;
    return completed?.text === this.text.trim() ? completed.takes : undefined;
  }

  /** The mode of vi, where its keys are used. */
  get mode(): VimMode | undefined {
    return this.#vim?.mode;
  }

  /** How much is selected, in words; nothing where nothing is. */
  get selection(): string | undefined {
    const { place } = this.#editor;
    const range = this.#vim?.selected(place);
    if (!range) return undefined;
    const text = asWritten(place.text.slice(...range));
    const lines = text.split("\n").length;
    return `${counted(text.length, "character")} selected${lines > 1 ? `, ${counted(lines, "line")}` : ""}`;
  }

  /** Puts another text in its place; that can be undone. */
  set(text: string): void {
    this.#vim?.deselect();
    this.#editor.setText(held(text));
  }

  /** Returns the text and leaves nothing. */
  take(): string {
    const text = sent(this.#editor.getExpandedText());
    this.#editor.setText("");
    this.#vim?.insert();
    return text;
  }

  /** Shows long pastes in full. */
  expandPastes(): void {
    const whole = this.#editor.getExpandedText();
    if (whole !== this.#editor.getText()) this.#editor.setText(whole);
  }

  /** From now on Up brings a text back. */
  remember(text: string): void {
    this.#editor.addToHistory(held(text));
  }

  /** Takes a key, as the terminal sent it. */
  key(key: string): void {
    const { keys, onChange } = this.#options;
    if (this.#vim && this.#vimKey(this.#vim, key)) return onChange();
    // The library keeps what keys do for all of its editors.
    setKeybindings(keys.editor);
    this.#before = this.#editor.getExpandedText();
    const before = this.text.trim();
    const completes = this.isCompleting && before.startsWith("/") && keys.matches(key, "send");
    // A command that is not typed in full is completed, and can be seen before it is sent, unless it can be no other.
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
    // The editor looks for other suggestions only after what it takes for typing.
    else if (after !== before && characterOf(key) === undefined && !keys.matches(key, "delete-back"))
      this.#stopCompleting();
    if (this.mode === "normal") this.#carryOut(this.#vim?.settled(this.#editor.place));
    onChange();
  }

  /** Takes a key in the way of vi; returns whether it is one there. */
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
    // There is no other way to say so.
    if (this.isCompleting) this.#editor.setAutocompleteProvider(this.#options.completion);
  }

  /** Takes a paste: a long one (over 10 lines) stands in the text as `[paste #1 +50 lines]` until it is sent (T9, T62). */
  paste(text: string): void {
    this.#vim?.deselect();
    // The end of its last line begins none.
    this.#editor.handleInput(`\x1b[200~${held(withControls(text)).replace(/\n$/, "")}\x1b[201~`);
  }

  /** The lines for a width; of a longer text those around the cursor, more in a terminal of more rows. */
  lines(width: number, rows: number): EditorLines {
    Object.assign(this.#surroundings, { rows, columns: width });
    this.#editor.setAutocompleteMaxVisible(Math.min(MOST_SUGGESTIONS, Math.floor(rows / 4)));
    const [top = "", ...rest] = this.#editor.render(Math.max(2, width));
    const bottom = rest.findIndex((line) => line.startsWith(FRAME));
    let cursor: Position = { row: 0, column: 0 };
    const lines = rest.slice(0, bottom).map((line, row) => {
      const at = line.indexOf(CURSOR_MARKER);
      if (at < 0) return drawn(line).trimEnd();
      const before = line.slice(0, at);
      cursor = { row, column: widthOf(before) };
      return drawn(before + line.slice(at + CURSOR_MARKER.length).replace(PAINTED_CURSOR, "$1")).trimEnd();
    });
    // The library ends colours where it cuts a line, also where there are none.
    const hasColors = this.#options.theme().depth > 1;
    const suggestions = rest.slice(bottom + 1).map((line) => {
      const shown = hasColors ? line : bare(line);
      const isCut = widthOf(bare(line).trimEnd()) === width - KEPT_FREE;
      return (isCut ? cut(shown, width - KEPT_FREE) : shown).trimEnd();
    });
    const above = framed(top);
    return { lines: this.#marked(lines, above), cursor, above, below: framed(rest[bottom] ?? ""), suggestions };
  }

  /** Lines of which what is selected is painted; the first of them is the one behind so many others. */
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
      const column = widthOf(place.text.slice(at, from));
      return paintedAt(line, column, selected, Math.max(1, widthOf(place.text.slice(from, to))));
    });
  }
}

/** A text as it is sent: without blanks behind it, and nothing where it is blank. Blanks before it are its first indent. */
function sent(text: string): string {
  const written = asWritten(text.trimEnd());
  return written.trim() === "" ? "" : written;
}

/** A paste in which tmux wrote a control character as a key with Ctrl, as `ESC [ 106 ; 5 u`. */
function withControls(paste: string): string {
  return paste.replaceAll(CONTROL_KEY, (_, code: string) => String.fromCharCode(Number(code) & 0x1f));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the key begins with Esc
const CONTROL_KEY = /\x1b\[(6[5-9]|[78]\d|90|9[7-9]|1[01]\d|12[0-2]);5u/g;

/** `115 lines above, 2 below`: how much of a long text is not seen. */
export function hiddenLines(above: number, below: number): string {
  return `${counted(above, "line")} above, ${below} below`;
}

/** Columns that the library leaves free beside a suggestion: one that reaches them was cut, without a sign of it. */
const KEPT_FREE = 2;
/** Suggestions that are listed at once, where there are enough rows. */
const MOST_SUGGESTIONS = 10;
/** What the library puts before the suggestion that is chosen. */
const SIGN = "→ ";
const FRAME = "\0";
// biome-ignore lint/suspicious/noControlCharactersInRegex: the editor paints its cursor with these
const PAINTED_CURSOR = /^\x1b\[7m(.*?)\x1b\[0m/s;

const USUAL_KEYS = new KeybindingsManager(TUI_KEYBINDINGS);

/** Keys that are no letters, as letters of vi. */
const VIM_KEYS = [
  ["backspace", "h"],
  ["delete", "x"],
] as const;

/** What the library keeps for itself: a text can be replaced there, but not its cursor placed. The version is a fixed one. */
interface EditorInside {
  readonly state: { lines: string[]; cursorLine: number };
  /** The newest first. */
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

/** Instead of a frame it has two lines that only say how much is hidden. */
class FramelessEditor extends Editor {
  /** The text, long pastes as they stand there, and where its cursor is. */
  get place(): TextAt {
    const { line, col } = this.getCursor();
    const above = this.getLines().slice(0, line);
    return { text: this.getText(), at: above.reduce((sum, { length }) => sum + length + 1, col) };
  }

  /** Puts another text there, of which all can be undone at once, or the cursor somewhere else. */
  replace({ text, at }: TextAt): void {
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

  /** Which part of the text stands in which row, as it was drawn last. */
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

  /** The library trims what it remembers. */
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
