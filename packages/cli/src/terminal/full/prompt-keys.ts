import { errorMessage } from "@banyan/core/shown";
import { matchesKey } from "@earendil-works/pi-tui/dist/keys.js";
import type { PictureSource } from "../contract/live-terminal.ts";
import { LEAVE_HINT, LEAVE_WITHIN, type TalkAction } from "../contract/terminal.ts";
import type { History } from "../questions/history.ts";
import { commandLine } from "../questions/question.ts";
import type { KeyAction } from "./keys/actions.ts";
import type { KeyBindings } from "./keys/key-bindings.ts";
import { keyHelpLines } from "./keys/key-lines.ts";
import type { Overlay } from "./overlay/overlay.ts";
import { Viewer } from "./overlay/viewer.ts";
import { editOutside } from "./prompt/external-editor.ts";
import type { PromptBox } from "./prompt/prompt.ts";
import type { Theme } from "./theme/theme.ts";
import type { LiveView } from "./transcript/live-view.ts";
import { Picker } from "./views/picker.ts";

export interface PromptKeysOptions {
  readonly prompt: PromptBox;
  readonly history: History;
  readonly terminal: { readonly view: LiveView; open<T>(overlay: Overlay<T>): Promise<T | undefined> };
  readonly env: NodeJS.ProcessEnv;
  keys(): KeyBindings;
  /** The source of image marks, once there is a conversation partner. */
  pictures(): PictureSource | undefined;
  redraw(): void;
  changed(): void;
  lend<T>(borrow: () => Promise<T>): Promise<T>;
  suspend(): void;
  onAction?(action: TalkAction): void;
  onInterrupt(): void;
}

/** Milliseconds within which a second Esc opens the tree. */
const TWICE_WITHIN = 600;

/** Handles the prompt's keys that do not edit its text (T1 to T8, T12, T18). */
export class PromptKeys {
  readonly #options: PromptKeysOptions;
  #leaveBefore = 0;
  #rewindBefore = 0;
  #hint = "";
  #hintEnds: NodeJS.Timeout | undefined;

  constructor(options: PromptKeysOptions) {
    this.#options = options;
  }

  get hint(): string {
    return this.#hint;
  }

  close(): void {
    clearTimeout(this.#hintEnds);
  }

  key(key: string): void {
    const { prompt } = this.#options;
    const keys = this.#options.keys();
    const does = (action: KeyAction) => keys.matches(key, action);
    if (does("cancel")) return this.cancel();
    this.#leaveBefore = 0;
    this.#say("");
    // Suggestions get their keys first.
    if (prompt.isCompleting) return prompt.key(key);
    // In vi mode, Esc first ends inserting.
    if (matchesKey(key, "escape") && prompt.escape(key)) return;
    if (does("interrupt")) return this.#interrupt();
    this.#rewindBefore = 0;
    if (does("exit") && prompt.isEmpty) return this.#exit();
    if (does("show-keys") && prompt.isEmpty) return this.#inBackground(this.#showKeys());
    const action = HANDLED.find(does);
    if (action === undefined) prompt.key(key);
    else this.#do(action);
  }

  /** Handles a paste. Terminals send an empty paste if the clipboard holds an image (T50). */
  paste(text: string): void {
    const { prompt, terminal, pictures } = this.#options;
    if (text === "") return this.#inBackground(this.#pastePicture());
    // A command gets a path unchanged.
    const isCommand = prompt.text.startsWith("!") || commandLine(prompt.text) !== undefined;
    const pasted = isCommand ? undefined : pictures()?.pasted(text);
    if (pasted?.problem !== undefined) terminal.view.say(pasted.problem);
    prompt.paste(pasted?.text ?? text);
  }

  /** Ctrl-C: stops the agent, or clears the prompt, or leaves if pressed twice on an empty prompt. */
  cancel(): void {
    const { prompt, onInterrupt } = this.#options;
    if (!prompt.isReading) onInterrupt();
    else if (!prompt.isEmpty) prompt.clear();
    else if (performance.now() < this.#leaveBefore) prompt.leave();
    else {
      this.#leaveBefore = performance.now() + LEAVE_WITHIN;
      this.#say(LEAVE_HINT, LEAVE_WITHIN);
    }
  }

  #interrupt(): void {
    const { prompt, onInterrupt, onAction } = this.#options;
    if (!prompt.isReading) return onInterrupt();
    if (!prompt.isEmpty) return;
    if (performance.now() >= this.#rewindBefore) this.#rewindBefore = performance.now() + TWICE_WITHIN;
    else {
      this.#rewindBefore = 0;
      onAction?.("rewind");
    }
  }

  #exit(): void {
    const { prompt } = this.#options;
    if (prompt.isReading) prompt.leave();
    else
      this.#say(
        `The agent is working. ${this.#options.keys().hint("cancel") ?? "Ctrl-C"} stops the agent.`,
        LEAVE_WITHIN,
      );
  }

  #do(action: (typeof HANDLED)[number]): void {
    const { prompt, redraw, suspend, onAction } = this.#options;
    switch (action) {
      case "send-later":
        return prompt.sendLater();
      case "redraw":
        return redraw();
      case "suspend":
        return suspend();
      case "expand-paste":
        return prompt.expandPastes();
      case "external-editor":
        return this.#inBackground(this.#editOutside());
      case "history-search":
        return this.#inBackground(this.#searchHistory());
      case "paste-picture":
        return this.#inBackground(this.#pastePicture());
      case "open-output":
        return this.#inBackground(this.#openOutput());
      case "take-back":
        return prompt.takeBackKept() ? undefined : onAction?.(action);
      case "approval-mode":
      case "agents":
        return onAction?.(action);
    }
  }

  async #editOutside(): Promise<void> {
    const { prompt, env, lend } = this.#options;
    prompt.set(await lend(() => editOutside(prompt.text, env)));
  }

  async #searchHistory(): Promise<void> {
    const { prompt, history, terminal } = this.#options;
    const items = history.lines.map((line) => ({ value: line, label: line.replaceAll(/\s+/g, " ") }));
    const title = "Your earlier messages";
    const found = await terminal.open(new Picker({ title, items, filter: prompt.text, empty: "Nothing yet." }));
    if (found !== undefined) prompt.set(found);
  }

  async #pastePicture(): Promise<void> {
    const { prompt, pictures } = this.#options;
    const source = pictures();
    if (!source) return;
    this.#say("Looking for a picture in your clipboard …", LEAVE_WITHIN);
    try {
      prompt.paste(await source.fromClipboard());
    } finally {
      this.#say("");
    }
  }

  async #showKeys(): Promise<void> {
    const rows = this.#options.keys().table;
    const lines = (width: number, theme: Theme) => keyHelpLines(rows, width, theme);
    await this.#options.terminal.open(new Viewer([{ title: "Keys", lines }]));
  }

  async #openOutput(): Promise<void> {
    const { terminal, keys } = this.#options;
    const { pages } = terminal.view;
    if (pages.length === 0) this.#say("There is no shortened text to open.", LEAVE_WITHIN);
    else await terminal.open(new Viewer(pages, { openKey: keys().hint("open-output") }));
  }

  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => {
      const why = errorMessage(error);
      this.#options.terminal.view.say(`Not done: ${why}`);
    });
  }

  #say(hint: string, time = 0): void {
    clearTimeout(this.#hintEnds);
    this.#hint = hint;
    if (hint === "") return;
    this.#hintEnds = setTimeout(() => {
      this.#hint = "";
      this.#options.changed();
    }, time);
    this.#options.changed();
  }
}

const HANDLED = [
  "send-later",
  "redraw",
  "suspend",
  "expand-paste",
  "external-editor",
  "history-search",
  "paste-picture",
  "open-output",
  "approval-mode",
  "agents",
  "take-back",
] as const satisfies readonly KeyAction[];
