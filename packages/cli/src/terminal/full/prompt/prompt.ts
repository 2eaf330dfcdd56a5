import { attachableAtEnd } from "../../../show/attached.ts";
import type { History } from "../../history.ts";
import type { KeyBindings } from "../keys/key-bindings.ts";
import type { Size } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";
import { rule } from "../views/drawn-lines.ts";
import type { View } from "../views/overlay.ts";
import { type Completer, Completion } from "./completion.ts";
import { PromptEditor } from "./prompt-editor.ts";

/** What a prompt works with. */
export interface PromptOptions {
  readonly keys: KeyBindings;
  readonly history: History;
  completers(): readonly Completer[];
  /** As it is now. */
  theme(): Theme;
  /** A message that was ended while nobody asked for one; `later`: with the key for that. Answers whether it was taken. */
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
 */
export class Prompt {
  readonly #options: PromptOptions;
  readonly #kept: string[] = [];
  #editor: PromptEditor;
  #label = "Starting …";
  #reading: PromiseWithResolvers<string | undefined> | undefined;

  constructor(options: PromptOptions) {
    this.#options = options;
    this.#editor = this.#createEditor(options.keys);
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

  /** Answers the next message; nothing when the person leaves. */
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

  expandPastes(): void {
    this.#editor.expandPastes();
  }

  /** What stands there goes into the history. */
  clear(): void {
    this.#remember(this.#editor.take());
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
    const { text } = this;
    this.#editor = this.#createEditor(keys);
    this.#editor.set(text);
  }

  /** The lines of it, with a hint at the end of the first one if there is room. */
  view({ columns, rows }: Size, theme: Theme, hint: string): View {
    const { lines, cursor, above, below, suggestions } = this.#editor.lines(columns, rows);
    const offer = attachableAtEnd(this.text) === undefined ? hint : "Tab attaches it";
    const hidden = theme.dim(above + below > 0 ? `${above} lines above, ${below} below` : offer);
    return {
      lines: [rule(theme.bold(this.#label), columns, theme, hidden), ...lines, ...suggestions],
      cursor: { ...cursor, row: cursor.row + 1 },
    };
  }

  #createEditor(keys: KeyBindings): PromptEditor {
    const { completers, theme, history } = this.#options;
    const editor = new PromptEditor({
      keys,
      theme,
      completion: new Completion(completers),
      onSend: (text) => this.#send(text, false),
      onChange: () => this.#changed(),
    });
    for (const text of history.lines.toReversed()) editor.remember(text);
    return editor;
  }

  #send(text: string, later: boolean): void {
    if (text === "") return;
    this.#remember(text);
    const reading = this.#reading;
    if (reading) {
      this.#reading = undefined;
      reading.resolve(text);
    } else if (!this.#options.onTyped(text, later)) this.#kept.push(text);
    this.#changed();
  }

  #changed(): void {
    const { onDraft, onChange } = this.#options;
    onDraft([...this.#kept, this.text].filter((text) => text !== "").join("\n"));
    onChange();
  }

  #remember(text: string): void {
    this.#options.history.add(text);
    this.#editor.remember(text);
  }
}
