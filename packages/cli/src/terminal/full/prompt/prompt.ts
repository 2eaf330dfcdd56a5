import { attachableAtEnd } from "../../../show/attached.ts";
import type { WaitingWord } from "../../../show/message-label.ts";
import { oneLine } from "../../../show/plain-text.ts";
import type { History } from "../../history.ts";
import type { KeyBindings } from "../keys/key-bindings.ts";
import type { Size } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";
import { rule } from "../views/drawn-lines.ts";
import type { View } from "../views/overlay.ts";
import { type Completer, Completion } from "./completion.ts";
import { hiddenLines, PromptEditor } from "./prompt-editor.ts";

/** How a text waited that was taken back: it goes on waiting so when it is sent again. */
export type WaitedAs = WaitingWord | "next";

/** A text that was taken back. */
interface Retaken {
  readonly text: string;
  /** Nothing for one that was being written meanwhile. */
  readonly as: WaitedAs | undefined;
}

/** What a prompt works with. */
export interface PromptOptions {
  readonly keys: KeyBindings;
  readonly history: History;
  completers(): readonly Completer[];
  /** As it is now. */
  theme(): Theme;
  /** A message that was ended while nobody asked for one; `later`: with the key for that. Returns whether it was taken. */
  onTyped(message: string, later: boolean): boolean;
  /** Something to be seen has changed. */
  onChange(): void;
  /** What was written and is not taken yet, in full: what is kept, and what stands there. */
  onDraft(text: string): void;
}

/**
 * Where a person writes: always there, whether or not somebody asks for a message. A message that nobody takes is kept
 * for the next time somebody asks.
 *
 * ```
 * typed ──Enter──▶ asked for: the answer
 *             ╰──▶ else: taken (it steers), or kept ──next time it is asked for──▶ the answer
 * ```
 *
 * What waited and is taken back stands in it, one text at a time (T53): what stood there before comes back when that is sent.
 */
export class Prompt {
  readonly #options: PromptOptions;
  readonly #kept: string[] = [];
  #keys: KeyBindings;
  /** Set aside for something that was taken back; the last one comes back first. */
  readonly #aside: Retaken[] = [];
  /** How what stands there has waited. */
  #as: WaitedAs | undefined;
  #editor: PromptEditor;
  #label = "Starting …";
  #vim = false;
  #reading: PromiseWithResolvers<string | undefined> | undefined;

  constructor(options: PromptOptions) {
    this.#options = options;
    this.#keys = options.keys;
    this.#editor = this.#createEditor();
  }

  /** Whether somebody asks for a message. */
  get isReading(): boolean {
    return this.#reading !== undefined;
  }

  get isEmpty(): boolean {
    return this.#editor.isEmpty;
  }

  get isCompleting(): boolean {
    return this.#editor.isCompleting;
  }

  /** With long pastes in full. */
  get text(): string {
    return this.#editor.text;
  }

  /** Messages that wait for somebody to ask for one. */
  get kept(): readonly string[] {
    return this.#kept;
  }

  /** This stands above it from now on. */
  call(label: string): void {
    this.#label = label.trim();
    this.#changed();
  }

  /** Returns the next message; nothing when the person leaves. */
  async read(label: string, initial: string): Promise<string | undefined> {
    this.call(label);
    if (initial !== "") this.insert(initial);
    const kept = initial === "" ? this.#kept.shift() : undefined;
    if (kept === undefined) this.#reading = Promise.withResolvers();
    this.#changed();
    return kept ?? this.#reading?.promise;
  }

  /** Whoever asks for a message gets none. */
  leave(): void {
    this.#reading?.resolve(undefined);
    this.#reading = undefined;
  }

  /** With the keys of vi, or without. */
  useVim(vim: boolean): void {
    if (vim === this.#vim) return;
    this.#vim = vim;
    this.#renew();
  }

  /** Takes Esc, where that has a meaning for the text; returns whether it is for nothing else then. */
  escape(key: string): boolean {
    const { mode } = this.#editor;
    if (mode === undefined) return false;
    this.#editor.key(key);
    return mode !== "normal" && !this.isEmpty;
  }

  /** Takes a key. */
  key(key: string): void {
    this.#editor.key(key);
  }

  paste(text: string): void {
    this.#editor.paste(text);
  }

  /** Puts another text in place of what stands there. */
  set(text: string): void {
    this.#editor.set(text);
  }

  /** Puts text before what stands there. */
  insert(text: string): void {
    this.#editor.set([text, this.text].filter((part) => part !== "").join("\n"));
  }

  /** Puts a text that waited into it; what stands there is set aside. */
  takeBack(text: string, as: WaitedAs): void {
    if (!this.isEmpty) this.#aside.push({ text: this.text, as: this.#as });
    this.#as = as;
    this.#editor.set(text);
  }

  /** The same with the last message that waits for somebody to ask for one. Returns whether there was one. */
  takeBackKept(): boolean {
    const text = this.#kept.pop();
    if (text !== undefined) this.takeBack(text, "next");
    return text !== undefined;
  }

  expandPastes(): void {
    this.#editor.expandPastes();
  }

  /** What stands there goes into the history. */
  clear(): void {
    this.#remember(this.#editor.take());
    this.#bringBack();
  }

  /** Sends it for after the agent's turn; begins a new line when somebody asks for a message. */
  sendLater(): void {
    if (this.isReading) this.#editor.key("\n");
    else this.#send(this.#editor.take(), true);
  }

  /** Nothing is sent by itself any more: what was kept stands in the prompt again. */
  hold(): void {
    const kept = this.#kept.splice(0);
    if (kept.length > 0) this.insert(kept.join("\n"));
  }

  /** What was written before, the newest first, as if it had been written here. */
  remember(texts: readonly string[]): void {
    for (const text of texts.toReversed()) this.#remember(text);
  }

  /** Other keys from now on. */
  useKeys(keys: KeyBindings): void {
    this.#keys = keys;
    this.#renew();
  }

  /** The lines of it, with a hint at the end of the first one if there is room. */
  view({ columns, rows }: Size, theme: Theme, hint: string): View {
    const { lines, cursor, above, below, suggestions } = this.#editor.lines(columns, rows);
    const offer =
      this.#editor.selection ??
      (attachableAtEnd(this.text) === undefined ? (this.#waited ?? this.#takes ?? hint) : "Tab attaches it");
    const hidden = theme.dim(above + below > 0 ? hiddenLines(above, below) : offer);
    const { mode } = this.#editor;
    const label = theme.bold(this.#label) + (mode === undefined ? "" : ` ${theme.accent(mode.toUpperCase())}`);
    return {
      lines: [rule(label, columns, theme, hidden), ...lines, ...suggestions],
      cursor: { ...cursor, row: cursor.row + 1 },
    };
  }

  /** How what stands there has waited, and how many texts come back behind it; nothing when it is newly written. */
  get #waited(): string | undefined {
    if (this.#as === undefined) return undefined;
    const behind = this.#aside.length > 0 ? `, ${this.#aside.length} behind it` : "";
    return `${WAITED[this.#as]}${behind}`;
  }

  get #takes(): string | undefined {
    const { takes, text } = this.#editor;
    return takes && oneLine(`${text.trim()} ${takes}`);
  }

  /** What was set aside last stands there again. */
  #bringBack(): void {
    const { text = "", as } = this.#aside.pop() ?? {};
    this.#as = as;
    if (text !== "") this.#editor.set(text);
  }

  #renew(): void {
    const { text } = this;
    this.#editor = this.#createEditor();
    this.#editor.set(text);
  }

  #createEditor(): PromptEditor {
    const { completers, theme, history } = this.#options;
    const editor = new PromptEditor({
      keys: this.#keys,
      theme,
      vim: this.#vim,
      completion: new Completion(completers),
      onSend: (text) => this.#send(text, false),
      onChange: () => this.#changed(),
    });
    for (const text of history.lines.toReversed()) editor.remember(text);
    return editor;
  }

  #send(text: string, later: boolean): void {
    // What was emptied is given up.
    if (text === "") return this.#bringBack();
    this.#remember(text);
    const reading = this.#reading;
    if (reading) {
      this.#reading = undefined;
      reading.resolve(text);
    } else if (!this.#options.onTyped(text, later || this.#as === "queued")) this.#kept.push(text);
    this.#bringBack();
    this.#changed();
  }

  #changed(): void {
    const { onDraft, onChange } = this.#options;
    const aside = this.#aside.map(({ text }) => text).reverse();
    // What was taken back and deleted is given up; what is written next has not waited.
    if (this.isEmpty && this.#aside.length === 0) this.#as = undefined;
    onDraft([...this.#kept, this.text, ...aside].filter((text) => text !== "").join("\n"));
    onChange();
  }

  #remember(text: string): void {
    this.#options.history.add(text);
    this.#editor.remember(text);
  }
}

const WAITED: Readonly<Record<WaitedAs, string>> = {
  steer: "Editing a message for this turn. Enter sends it now",
  queued: "Editing a queued message. Enter puts it back",
  interrupt: "Editing a message meant to interrupt. Enter sends it now",
  held: "Editing a message held back. Enter sends it",
  next: "Editing the next message. Enter sends it",
};
