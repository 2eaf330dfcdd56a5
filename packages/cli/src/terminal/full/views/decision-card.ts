import { counted } from "@banyan/core/shown";
import { plainLine } from "../../../show/plain-text.ts";
import type { DecisionChoice, DecisionRequest, DecisionResult } from "../../questions/decision.ts";
import { placedTitle } from "../../questions/question.ts";
import type { KeyAction } from "../keys/actions.ts";
import type { KeyBindings } from "../keys/key-bindings.ts";
import { characterOf } from "../keys/keyboard.ts";
import type { Highlight } from "../markdown/highlighter.ts";
import { indentedLines, keyHint, lastColumns, longestThatFits, rule } from "../overlay/drawn-lines.ts";
import { LineInput } from "../overlay/line-input.ts";
import type { Overlay, OverlayEnd, OverlayView, ViewerPage } from "../overlay/overlay.ts";
import { cutToWidth, textWidth, withoutColors, wrapCells } from "../screen/cells.ts";
import type { ScreenSize } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";

/**
 * Lets the user decide (T27). A choice's key or an arrow key marks a choice, and Enter decides for the marked choice
 * (S14, T64). For a choice that takes a text, asks for the text first.
 */
export class DecisionCard implements Overlay<DecisionResult> {
  readonly isFull = false;
  readonly #decision: DecisionRequest;
  #marked: DecisionChoice | undefined;
  /** True if Enter was pressed without a marked choice. */
  #isUndecided = false;
  /** The choice whose text the user writes. */
  #chosen: DecisionChoice | undefined;
  readonly #words: LineInput;
  #top = 0;
  /** Total and visible lines of the body in the last frame. */
  #room = { lines: 0, shown: 0 };
  readonly #highlight: () => Highlight | undefined;
  /** The last rendered body, so that a large change is not rendered for each frame. */
  #made: { readonly by: readonly unknown[]; readonly lines: readonly string[] } | undefined;

  /** `highlight` returns the syntax highlighter once it is loaded. */
  constructor(decision: DecisionRequest, highlight: () => Highlight | undefined = () => undefined) {
    this.#decision = decision;
    this.#highlight = highlight;
    this.#words = new LineInput(decision.begun?.words);
  }

  view({ columns, rows }: ScreenSize, theme: Theme, isArmed: boolean): OverlayView {
    const head = this.#head(columns, rows, theme);
    const isTight = rows < 16 || this.#long(columns, theme).length > rows / 3;
    const bottom = this.#chosen ? this.#question(columns, theme) : this.#offer(columns, theme, isTight, isArmed);
    // Indent wrapped lines, so that no sign at their beginning looks like a diff's sign.
    const lines = this.#body(columns - 4, theme, isTight);
    const shown = Math.max(1, rows - head.length - bottom.lines.length - (isTight ? 0 : 1));
    const most = lines.length > shown ? Math.max(1, shown - 1) : shown;
    this.#room = { lines: lines.length, shown: most };
    this.#top = Math.max(0, Math.min(this.#top, lines.length - most));
    const part = lines.slice(this.#top, this.#top + most);
    const hidden = lines.length - part.length;
    // If only one body line fits, the footer explains how to see it all.
    const isSaid = hidden > 0 && (shown > 1 || rows < FOOTED_FROM);
    const more = isSaid ? [theme.dim(cutToWidth(`… (${this.#place(hidden)}: PgUp and PgDn move)`, columns))] : [];
    const top = [...head, ...part.map((line) => `  ${line}`), ...more, ...(isTight ? [] : [""])];
    const cursor = bottom.cursor && { ...bottom.cursor, row: bottom.cursor.row + top.length };
    return { lines: [...top, ...bottom.lines], cursor };
  }

  key(key: string, keys: KeyBindings): OverlayEnd<DecisionResult> | undefined {
    if (keys.matches(key, "cancel")) return {};
    if (this.#chosen) return this.#wordsKey(this.#chosen, key, keys);
    if (keys.matches(key, "interrupt")) return {};
    if (keys.matches(key, "list-up")) this.#moveMark(-1);
    else if (keys.matches(key, "list-down")) this.#moveMark(1);
    else if (keys.matches(key, "list-page-up")) this.#top -= this.#room.shown;
    else if (keys.matches(key, "list-page-down")) this.#top += this.#room.shown;
    else if (keys.matches(key, "list-first")) this.#top = 0;
    else if (keys.matches(key, "list-last")) this.#top = this.#room.lines;
    else if (keys.matches(key, "list-choose")) return this.#confirm();
    return undefined;
  }

  mark(key: string): boolean {
    this.#marked = this.#decision.choices.find((choice) => choice.key === characterOf(key));
    this.#isUndecided = false;
    return this.#marked !== undefined;
  }

  unmark(): void {
    this.#marked = undefined;
  }

  get isWriting(): boolean {
    return this.#chosen !== undefined;
  }

  spares(key: string, keys: KeyBindings): boolean {
    if (this.#chosen || keys.matches(key, "cancel")) return false;
    if (keys.matches(key, "list-choose")) return !this.#marked;
    const moves = this.#room.lines > this.#room.shown;
    return (
      PAGE_KEYS.some((action) => keys.matches(key, action)) ||
      (!moves && MOVES.some((action) => keys.matches(key, action)))
    );
  }

  paste(text: string): void {
    if (!this.#chosen) return;
    this.#words.text += plainLine(text);
    this.#written(this.#chosen);
  }

  footer(keys: KeyBindings): readonly string[] {
    const { stops = false, asksLess = false } = this.#decision;
    if (this.#chosen) return [keyHint(keys, "interrupt", "goes back")];
    return [
      keyHint(keys, "interrupt", stops ? "stops" : "decides nothing"),
      ...(this.#room.lines > this.#room.shown ? [keyHint(keys, "open-output", "all of it")] : []),
      ...(asksLess ? [keyHint(keys, "approval-mode", "asks less")] : []),
    ];
  }

  get page(): ViewerPage {
    const { name, title } = this.#decision;
    return { title: name ?? title, lines: (_width, theme) => this.#painted(theme) };
  }

  /** A call's folder stays visible in the title even on a small screen. */
  #head(columns: number, rows: number, theme: Theme): readonly string[] {
    const title = placedTitle(this.#decision.title, this.#decision);
    const [first = ""] = rows < FOOTED_FROM ? [title] : wrapCells(title, columns - 4);
    const rest = withoutColors(title).slice(withoutColors(first).length).trim();
    const end = textWidth(rest) > columns - 2 ? `…${lastColumns(rest, columns - 3)}` : rest;
    return [rule(theme.warning(first), columns, theme), ...(rest === "" ? [] : [`  ${theme.warning(end)}`])];
  }

  #place(hidden: number): string {
    const below = this.#room.lines - this.#room.shown - this.#top;
    if (this.#top === 0) return counted(hidden, "more line");
    return below > 0
      ? `${counted(below, "more line")} below, ${this.#top} above`
      : `${counted(this.#top, "line")} above`;
  }

  #painted(theme: Theme): readonly string[] {
    const { body, painted } = this.#decision;
    const highlight = theme.depth > 1 ? this.#highlight() : undefined;
    return (highlight && painted?.({ theme, highlight })) ?? body;
  }

  #body(columns: number, theme: Theme, isTight: boolean): readonly string[] {
    const by = [columns, theme, isTight, this.#highlight()];
    if (this.#made?.by.every((one, index) => one === by[index])) return this.#made.lines;
    const body = this.#painted(theme);
    const lines = (isTight ? [...body, ...this.#told(theme)] : body).flatMap((line) => indentedLines(line, columns));
    this.#made = { by, lines };
    return lines;
  }

  #moveMark(by: 1 | -1): void {
    const { choices } = this.#decision;
    const from = this.#marked ? choices.indexOf(this.#marked) : by > 0 ? -1 : choices.length;
    this.#marked = choices[(from + by + choices.length) % choices.length];
    this.#isUndecided = false;
  }

  #confirm(): OverlayEnd<DecisionResult> | undefined {
    this.#isUndecided = !this.#marked;
    if (this.#marked && !this.#marked.takesWords) return { result: { key: this.#marked.key } };
    this.#chosen = this.#marked;
    return undefined;
  }

  #wordsKey(choice: DecisionChoice, key: string, keys: KeyBindings): OverlayEnd<DecisionResult> | undefined {
    if (keys.matches(key, "list-choose")) {
      const words = this.#words.text.trim();
      return { result: { key: choice.key, ...(words === "" ? {} : { words }) } };
    }
    if (keys.matches(key, "interrupt")) {
      this.#chosen = undefined;
      this.#marked = undefined;
    } else if (this.#words.key(key, keys)) this.#written(choice);
    return undefined;
  }

  #written({ key }: DecisionChoice): void {
    this.#decision.onBegun?.({ key, words: this.#words.text });
  }

  /** The choices in full: a lasting rule must be readable to its end. */
  #long(columns: number, theme: Theme): string[] {
    return this.#decision.choices.flatMap((choice) => {
      const line = `${choice === this.#marked ? "❯" : " "} ${theme.bold(choice.key)}  ${this.#textOf(choice)}`;
      return indentedLines(line, columns - 7, "     ");
    });
  }

  /** The text of a choice, with an unfinished text of the user. */
  #textOf({ text, takesWords }: DecisionChoice): string {
    return takesWords !== undefined && this.#words.text !== "" ? `${text}: ${this.#words.text}` : text;
  }

  /** Lasting choices whose full text does not fit below. */
  #told(theme: Theme): string[] {
    const lasting = this.#decision.choices.filter(({ holdsOn }) => holdsOn);
    return lasting.length === 0 ? [] : ["", ...lasting.map(({ key, text }) => `${theme.bold(key)}  ${text}`)];
  }

  #keys(beforeLast: string): string {
    const keys = this.#decision.choices.map(({ key }) => key);
    return [keys.slice(0, -1).join(", "), keys.at(-1)].join(beforeLast);
  }

  #offer(columns: number, theme: Theme, isTight: boolean, isArmed: boolean): OverlayView {
    const { question, choices } = this.#decision;
    const heading = isArmed ? theme.bold(question) : theme.dim(`${question} …`);
    const keys = this.#keys(" or ");
    const undecided = longestThatFits([`Press ${keys}, then Enter.`, `${keys}, then Enter`, this.#keys(", ")], columns);
    const confirms = this.#marked ? `${heading} ${theme.dim("Enter confirms.")}` : heading;
    const hint = this.#isUndecided ? theme.warning(undecided) : cutToWidth(confirms, columns);
    const brief = choices.map((choice) => {
      const { key, text, brief: short = text } = choice;
      return `${choice === this.#marked ? "❯ " : ""}${theme.bold(key)} ${short}`;
    });
    return { lines: [...(isTight ? inLines(brief, columns, theme.dim(" · ")) : this.#long(columns, theme)), hint] };
  }

  #question(columns: number, theme: Theme): OverlayView {
    const prompt = `${this.#chosen?.takesWords ?? ""}: `;
    const room = Math.max(1, columns - textWidth(prompt) - 1);
    const text = lastColumns(this.#words.text, room);
    const hint = theme.dim(cutToWidth("Enter sends. A reason is optional", columns));
    return {
      lines: [theme.bold(prompt) + text, hint],
      cursor: { row: 0, column: textWidth(prompt) + textWidth(text) },
    };
  }
}

/** Keys of a page that have no effect on a card. */
const PAGE_KEYS = [
  "interrupt",
  "list-cancel",
  "list-choose",
  "list-open",
  "list-back",
  "list-up",
  "list-down",
] as const satisfies readonly KeyAction[];
/** Keys that scroll a card whose body does not fit. */
const MOVES = ["list-page-up", "list-page-down", "list-first", "list-last"] as const satisfies readonly KeyAction[];

const FOOTED_FROM = 7;

/** Arranges pieces in lines, broken only between pieces. */
function inLines(pieces: readonly string[], columns: number, between: string): string[] {
  const lines: string[] = [];
  for (const piece of pieces) {
    const longer = `${lines.at(-1) ?? ""}${between}${piece}`;
    if (lines.length > 0 && textWidth(longer) <= columns) lines[lines.length - 1] = longer;
    else lines.push(cutToWidth(piece, columns));
  }
  return lines;
}
