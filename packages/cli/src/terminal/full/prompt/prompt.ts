import { WorkspaceFiles } from "@banyan/host/workspace-files";
import { attachableAtEnd } from "../../../show/attachment-lines.ts";
import type { WaitingLabel } from "../../../show/message-label.ts";
import { plainLine } from "../../../show/plain-text.ts";
import type { History } from "../../questions/history.ts";
import type { KeyBindings } from "../keys/key-bindings.ts";
import { rule } from "../overlay/drawn-lines.ts";
import type { OverlayView } from "../overlay/overlay.ts";
import type { ScreenSize } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";
import { completeFiles } from "./complete-files.ts";
import { type Completer, Completion, type PromptSuggestion } from "./completion.ts";
import { completeCommands, completeNames, type OfferedCommand } from "./completions.ts";
import { hiddenLines, PromptEditor } from "./prompt-editor.ts";

/** The delivery of a withdrawn message. The message keeps its delivery when the user sends it again. */
export type PreviousWait = WaitingLabel | "next";

interface RetakenText {
  readonly text: string;
  /** The withdrawn message. Undefined for a text that was never queued. */
  readonly as: PreviousWait | undefined;
}

export interface PromptOptions {
  readonly keys: KeyBindings;
  readonly history: History;
  theme(): Theme;
  /** Called for a message without a request; `later`: with the key for that. Returns whether it was used. */
  onTyped(message: string, later: boolean): boolean;
  onChange(): void;
  /** Called with all unsent text: kept messages and the present text. */
  onDraft(text: string): void;
}

/**
 * The user's prompt. It accepts text at any time. Enter answers a pending request. Without a request, the message
 * steers the agent, or waits for the next request. The user edits withdrawn messages here, one at a time (T53). After
 * sending, the earlier text comes back.
 */
export class PromptBox {
  readonly #options: PromptOptions;
  readonly #kept: string[] = [];
  readonly #completers = new Map<"commands" | "names" | "files", Completer>();
  #keys: KeyBindings;
  /** Texts that were set aside to edit withdrawn messages. The last text comes back first. */
  readonly #aside: RetakenText[] = [];
  #as: PreviousWait | undefined;
  #editor: PromptEditor;
  #label = "Starting …";
  #vim = false;
  #reading: PromiseWithResolvers<string | undefined> | undefined;

  constructor(options: PromptOptions) {
    this.#options = options;
    this.#keys = options.keys;
    this.#editor = this.#createEditor();
  }

  get isReading(): boolean {
    return this.#reading !== undefined;
  }

  get isEmpty(): boolean {
    return this.#editor.isEmpty;
  }

  get isCompleting(): boolean {
    return this.#editor.isCompleting;
  }

  /** The text with long pastes in full. */
  get text(): string {
    return this.#editor.text;
  }

  get kept(): readonly string[] {
    return this.#kept;
  }

  call(label: string): void {
    this.#label = label.trim();
    this.#changed();
  }

  /** Sets completers; an omitted one stays. */
  complete({
    commands,
    names,
    workspace,
  }: {
    readonly commands?: readonly OfferedCommand[] | undefined;
    readonly names?: (() => readonly PromptSuggestion[]) | undefined;
    readonly workspace?: string | undefined;
  }): void {
    if (commands) this.#completers.set("commands", completeCommands(commands));
    if (names) this.#completers.set("names", completeNames(names));
    if (workspace !== undefined) this.#completers.set("files", completeFiles(new WorkspaceFiles(workspace)));
  }

  /** Resolves with the next message; undefined if the user leaves. */
  async read(label: string, initial: string): Promise<string | undefined> {
    this.call(label);
    if (initial !== "") this.insert(initial);
    const kept = initial === "" ? this.#kept.shift() : undefined;
    if (kept === undefined) this.#reading = Promise.withResolvers();
    this.#changed();
    return kept ?? this.#reading?.promise;
  }

  leave(): void {
    this.#reading?.resolve(undefined);
    this.#reading = undefined;
  }

  useVim(vim: boolean): void {
    if (vim === this.#vim) return;
    this.#vim = vim;
    this.#renew();
  }

  /** Lets the text handle Esc. Returns whether it used the key. */
  escape(key: string): boolean {
    const { mode } = this.#editor;
    if (mode === undefined) return false;
    this.#editor.key(key);
    return mode !== "normal" && !this.isEmpty;
  }

  key(key: string): void {
    this.#editor.key(key);
  }

  /** Inserts the character of a printing key, also in the vi mode `NORMAL`. */
  type(key: string): void {
    if (this.#editor.mode === "normal") this.#editor.key("i");
    this.#editor.key(key);
  }

  paste(text: string): void {
    this.#editor.paste(text);
  }

  set(text: string): void {
    this.#editor.set(text);
  }

  insert(text: string): void {
    this.#editor.set([text, this.text].filter((part) => part !== "").join("\n"));
  }

  /** Puts a withdrawn message into the prompt, and sets the present text aside. */
  takeBack(text: string, as: PreviousWait): void {
    if (!this.isEmpty) this.#aside.push({ text: this.text, as: this.#as });
    this.#as = as;
    this.#editor.set(text);
  }

  /** Puts the last kept message into the prompt. Returns whether there was one. */
  takeBackKept(): boolean {
    const text = this.#kept.pop();
    if (text !== undefined) this.takeBack(text, "next");
    return text !== undefined;
  }

  expandPastes(): void {
    this.#editor.expandPastes();
  }

  clear(): void {
    this.#remember(this.#editor.take());
    this.#bringBack();
  }

  /** Sends the text for after the turn. Begins a new line if a message is requested. */
  sendLater(): void {
    if (this.isReading) this.#editor.key("\n");
    else this.#send(this.#editor.take(), true);
  }

  /** Stops sending kept messages by themselves: puts them into the prompt. */
  hold(): void {
    const kept = this.#kept.splice(0);
    if (kept.length > 0) this.insert(kept.join("\n"));
  }

  /** Adds earlier texts to the history, newest first. */
  remember(texts: readonly string[]): void {
    for (const text of texts.toReversed()) this.#remember(text);
  }

  useKeys(keys: KeyBindings): void {
    this.#keys = keys;
    this.#renew();
  }

  /** The prompt's lines, with a hint at the end of the first if there is room. */
  view({ columns, rows }: ScreenSize, theme: Theme, hint: string): OverlayView {
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

  /** Former delivery of the present text, and the number of texts set aside; undefined for new text. */
  get #waited(): string | undefined {
    if (this.#as === undefined) return undefined;
    const behind = this.#aside.length > 0 ? `, ${this.#aside.length} behind it` : "";
    return `${WAITED[this.#as]}${behind}`;
  }

  get #takes(): string | undefined {
    const { takes, text } = this.#editor;
    return takes && plainLine(`${text.trim()} ${takes}`);
  }

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
    const { theme, history } = this.#options;
    const editor = new PromptEditor({
      keys: this.#keys,
      theme,
      vim: this.#vim,
      completion: new Completion(() => [...this.#completers.values()]),
      onSend: (text) => this.#send(text, false),
      onChange: () => this.#changed(),
    });
    for (const text of history.lines.toReversed()) editor.remember(text);
    return editor;
  }

  #send(text: string, later: boolean): void {
    // The user gave up an emptied text.
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
    // A deleted withdrawn text is given up; further text is new.
    if (this.isEmpty && this.#aside.length === 0) this.#as = undefined;
    onDraft([...this.#kept, this.text, ...aside].filter((text) => text !== "").join("\n"));
    onChange();
  }

  #remember(text: string): void {
    this.#options.history.add(text);
    this.#editor.remember(text);
  }
}

const WAITED: Readonly<Record<PreviousWait, string>> = {
  steer: "Editing a message for this turn. Enter sends it now",
  queued: "Editing a queued message. Enter puts it back into the queue",
  interrupt: "Editing a message that interrupts the agent. Enter sends it now",
  held: "Editing a held message. Enter sends it",
  next: "Editing the next message. Enter sends it",
};
