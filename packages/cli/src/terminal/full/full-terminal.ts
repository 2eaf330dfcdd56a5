import type { ConversationState } from "@banyan/core";
import { errorMessage } from "@banyan/core/shown";
import { detectCapabilities } from "@earendil-works/pi-tui/dist/terminal-image.js";
import type { LiveSettings, LiveTerminal, PictureSource } from "../contract/live-terminal.ts";
import type { Terminal, TerminalOptions } from "../contract/terminal.ts";
import type { CopyOutcome } from "../questions/clipboard.ts";
import type { DecisionRequest, DecisionResult } from "../questions/decision.ts";
import { History } from "../questions/history.ts";
import {
  commandLine,
  type FilledForm,
  type Form,
  type MessageRequest,
  type TerminalQuestion,
} from "../questions/question.ts";
import { Attention } from "./attention.ts";
import { KeyBindings, type KeyRow } from "./keys/key-bindings.ts";
import { Keyboard } from "./keys/keyboard.ts";
import { Modes } from "./keys/modes.ts";
import { Lease } from "./lease.ts";
import { LateHighlight } from "./markdown/look.ts";
import { markdownLines } from "./markdown/markdown-stream.ts";
import type { Overlay } from "./overlay/overlay.ts";
import { OverlayStack } from "./overlay-stack.ts";
import { nextPicture } from "./picture.ts";
import { editOutside, hasEditor } from "./prompt/external-editor.ts";
import { type PreviousWait, PromptBox } from "./prompt/prompt.ts";
import { PromptKeys } from "./prompt-keys.ts";
import { QuestionKeys } from "./question-keys.ts";
import { Screen } from "./screen/screen.ts";
import { Colors } from "./theme/colors.ts";
import { ASK_BACKGROUND, type ColorDepth, schemeFrom } from "./theme/terminal-colors.ts";
import type { Theme } from "./theme/theme.ts";
import { LiveView } from "./transcript/live-view.ts";
import { type BranchEnd, branchEnd } from "./transcript/message-lines.ts";
import { DecisionCard } from "./views/decision-card.ts";
import { FormCard } from "./views/form-card.ts";
import { QuestionCard } from "./views/question-card.ts";
import { mayMove, SPIN_TIME } from "./views/spinner-line.ts";
import type { Status } from "./views/status-line.ts";

/** Streams and settings of a full terminal. */
export interface FullTerminalOptions extends Omit<TerminalOptions, "style"> {
  readonly depth: ColorDepth;
}

/** Screens of a branch that are printed when the user returns to it. */
const SCREENS = 2;

/** Milliseconds after a key in which the user counts as typing: input methods then need the terminal's own cursor. */
const TYPING = 2_000;

/** Milliseconds between updates of elapsed time if animation is off. */
const STILL_TIME = 1_000;

/**
 * A terminal that redraws its last lines: current work, queued messages, prompt and status. Everything above these
 * lines is ordinary scrollback. The prompt is always visible, except while an approval or a list replaces it. Keys go
 * to the top overlay, or else to the prompt. Each change makes the screen draw again.
 */
export class FullTerminal implements Terminal, LiveTerminal {
  readonly numbered = false;
  readonly live: LiveTerminal = this;
  readonly view: LiveView;
  readonly #options: FullTerminalOptions;
  readonly #screen: Screen;
  readonly #keyboard: Keyboard;
  readonly #lease: Lease;
  readonly #attention: Attention;
  readonly #overlays: OverlayStack;
  readonly #prompt: PromptBox;
  readonly #promptKeys: PromptKeys;
  readonly #questionKeys: QuestionKeys;
  readonly #links: boolean;
  readonly #moves: boolean;
  readonly #highlight = new LateHighlight(
    () => this.#colors.theme,
    () => this.#changed(),
  );
  readonly #colors: Colors;
  #keys = new KeyBindings();
  #conversation: ConversationState | undefined;
  #status: Status | undefined;
  #pictures: PictureSource | undefined;
  #partial = "";
  /** Time of the last key, in milliseconds of `performance.now()`. */
  #keyAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: FullTerminalOptions) {
    const { input, output, env, depth } = options;
    this.#options = options;
    this.#colors = new Colors(depth, env);
    this.#links = depth > 1 && detectCapabilities(() => false).hyperlinks;
    this.#moves = mayMove(env);
    this.view = new LiveView(() => this.#changed());
    this.#attention = new Attention((text) => output.write(text), env);
    this.#screen = new Screen(output, env, (size) => nextPicture(this.#seen(), size));
    const modes = new Modes(input, output);
    this.#overlays = new OverlayStack(() => this.#changed());
    const history = new History();
    this.#prompt = new PromptBox({
      keys: this.#keys,
      history,
      theme: () => this.#colors.theme,
      onTyped: options.onTyped,
      onChange: () => this.#changed(),
      onDraft: (text) => options.onDraft?.(text),
    });
    this.#promptKeys = new PromptKeys({
      prompt: this.#prompt,
      history,
      terminal: this,
      env,
      keys: () => this.#keys,
      pictures: () => this.#pictures,
      redraw: () => this.#screen.redraw(),
      changed: () => this.#changed(),
      lend: (borrow) => this.#lease.lend(borrow),
      suspend: () => this.#lease.suspend(),
      ...(options.onAction && { onAction: options.onAction }),
      onInterrupt: () => this.#interrupted(),
    });
    this.#questionKeys = new QuestionKeys({
      overlays: this.#overlays,
      prompt: this.#prompt,
      promptKeys: this.#promptKeys,
      keys: () => this.#keys,
      ...(options.onAction && { onAction: options.onAction }),
    });
    this.#keyboard = new Keyboard(
      input,
      {
        onKey: (key) => this.#key(key),
        onPaste: (text) => this.#paste(text),
        onTerminal: (knowsKitty) => {
          if (!knowsKitty) modes.useOtherKeys();
        },
        onBackground: (scheme) => {
          this.#colors.heard(scheme);
          this.#changed();
        },
        onFocus: (has) => this.#attention.looks(has),
      },
      env,
    );
    if (depth > 4 && schemeFrom(env) === undefined) output.write(ASK_BACKGROUND);
    this.#lease = new Lease({ modes, keyboard: this.#keyboard, screen: this.#screen });
  }

  get style(): Theme {
    return this.#colors.theme;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get columns(): number {
    return this.#screen.size.columns;
  }

  write(text: string): void {
    if (this.#isClosed) {
      this.#options.output.write(text);
      return;
    }
    const lines = (this.#partial + text).split("\n");
    this.#partial = lines.pop() ?? "";
    for (const line of lines) this.view.line(line);
  }

  freshLine(): void {
    if (this.#partial !== "") this.write("\n");
  }

  async read({ prompt, initial = "" }: MessageRequest): Promise<string | undefined> {
    if (this.#isClosed) return undefined;
    this.freshLine();
    this.view.forget();
    const message = await this.#prompt.read(prompt, initial);
    // A message appears once the conversation has it. A command that only opens a list is not shown.
    if (message?.startsWith("!")) this.view.command(message);
    else if (message && commandLine(message)) this.view.expect(message);
    return message;
  }

  async ask(question: TerminalQuestion): Promise<string | undefined> {
    const { env } = this.#options;
    const { again = false, signal, isOver = false, file } = question;
    const editor = { keys: this.#keys, theme: () => this.#colors.theme, onChange: () => this.#changed() };
    const card = new QuestionCard(question, editor, hasEditor(env) ? (text) => this.#outside(text, file) : undefined);
    if (this.#isClosed) return undefined;
    const over = await this.#overlays.open(card, { signal, isGuarded: !again, isOver });
    if (over.isBack) question.onBack?.();
    else this.#decided(over.result, signal);
    return over.result;
  }

  async decide(decision: DecisionRequest): Promise<DecisionResult | undefined> {
    const { again = false, signal } = decision;
    this.#highlight.load();
    if (this.#isClosed) return undefined;
    const card = new DecisionCard(decision, () => this.#highlight.now);
    const { result } = await this.#overlays.open(card, { signal, isGuarded: !again });
    this.#decided(result, signal);
    return result;
  }

  async fill(form: Form): Promise<FilledForm | undefined> {
    const { again = false, signal } = form;
    if (this.#isClosed) return undefined;
    const { result } = await this.#overlays.open(new FormCard(form), { signal, isGuarded: !again });
    this.#decided(result, signal);
    return result;
  }

  async edit(text: string, file: string): Promise<string | undefined> {
    return hasEditor(this.#options.env) ? this.#outside(text, file) : undefined;
  }

  async copy(text: string): Promise<CopyOutcome> {
    const { output, env } = this.#options;
    const { copyText } = await import("../questions/clipboard.ts");
    return copyText(text, (bytes) => output.write(bytes), { env });
  }

  interrupt(): void {
    // While another program has the terminal, that program gets Ctrl-C.
    if (this.#lease.isTaken) this.#promptKeys.cancel();
  }

  async settled(): Promise<void> {
    if (this.#lease.isTaken) await this.#keyboard.answered;
  }

  close(): void {
    if (this.#isClosed) return;
    this.freshLine();
    this.#isClosed = true;
    this.#overlays.closeAll();
    this.#prompt.leave();
    this.#promptKeys.close();
    this.#screen.animate(undefined);
    this.#lease.end();
  }

  configure(settings: LiveSettings): readonly string[] {
    const { prompt, keys, theme, vim, notify, history = [], commands, workspace, names } = settings;
    if (notify) this.#attention.use(notify);
    this.#pictures = settings.pictures ?? this.#pictures;
    if (prompt !== undefined) this.#prompt.call(prompt);
    if (vim !== undefined) this.#prompt.useVim(vim);
    this.#prompt.remember(history);
    const problems = theme === undefined ? [] : this.#colors.use(theme);
    if (keys) {
      this.#keys = new KeyBindings(keys);
      this.#prompt.useKeys(this.#keys);
    }
    this.#prompt.complete({ commands, names, workspace });
    this.#highlight.loadAhead(() => this.#keyAt);
    this.#changed();
    return [...this.#keys.problems, ...problems];
  }

  get keyTable(): readonly KeyRow[] {
    return this.#keys.table;
  }

  follow(conversation: ConversationState | undefined): void {
    // The same state may be ahead of the view, which then still follows it.
    if (conversation !== this.#conversation) this.view.follow(conversation);
    this.#conversation = conversation;
    this.#changed();
  }

  status(status: Status): void {
    this.#status = status;
    this.#changed();
  }

  async open<T>(overlay: Overlay<T>, signal?: AbortSignal): Promise<T | undefined> {
    if (this.#isClosed) return undefined;
    return (await this.#overlays.open(overlay, { signal })).result;
  }

  refresh(): void {
    this.#changed();
  }

  draw(): void {
    this.#screen.flush();
  }

  prose(markdown: string, width: number): readonly string[] {
    return markdownLines(markdown, width, {
      theme: this.#colors.theme,
      links: this.#links,
      highlight: this.#highlight.now,
    });
  }

  branchEnd(state: ConversationState, leaf: string | null): BranchEnd {
    const { columns: width, rows } = this.#screen.size;
    return branchEnd(state, leaf, { width, theme: this.#colors.theme, most: SCREENS * rows });
  }

  call(sentence: string): void {
    // While another program has the terminal, the user is looking at that program.
    if (this.#lease.isTaken && !this.#isClosed) this.#attention.call(sentence);
  }

  insert(text: string): void {
    this.#prompt.insert(text);
  }

  takeBack(text: string, as: PreviousWait): void {
    this.#prompt.takeBack(text, as);
  }

  /** Cancelling a required decision stops the agent. */
  #decided(result: unknown, signal: AbortSignal | undefined): void {
    if (result === undefined && !signal?.aborted && !this.#isClosed) this.#interrupted();
  }

  /** Lends the terminal to the user's own editor. Rejects after showing the error if the editor fails. */
  async #outside(text: string, file?: string): Promise<string> {
    try {
      return await this.#lease.lend(() => editOutside(text, this.#options.env, file));
    } catch (error) {
      this.view.say(`Not done: ${errorMessage(error)}`);
      throw error;
    } finally {
      this.#changed();
    }
  }

  #interrupted(): void {
    // Send no queued message by itself after a stop.
    this.#prompt.hold();
    this.view.stopping();
    this.#options.onInterrupt();
  }

  #key(key: string): void {
    this.#attention.looks(true);
    this.#keyAt = performance.now();
    const { top } = this.#overlays;
    if (top?.mark) this.#questionKeys.key(key, top);
    else {
      this.#questionKeys.passes(key);
      if (top) this.#overlays.key(key, this.#keys);
      else this.#promptKeys.key(key);
    }
    this.#changed();
  }

  #paste(text: string): void {
    const { top } = this.#overlays;
    if (top?.mark) this.#questionKeys.paste(text, top);
    else if (top) top.paste?.(text);
    else this.#promptKeys.paste(text);
    this.#changed();
  }

  #seen() {
    const isTyping = !this.#prompt.isEmpty && performance.now() < this.#keyAt + TYPING;
    const isMuchDrawn = this.view.doing?.isWaiting === false && !isTyping;
    return {
      cursorWaits: this.#screen.cursorWaits(isMuchDrawn),
      theme: this.#colors.theme,
      keys: this.#keys,
      view: this.view,
      prompt: this.#prompt,
      overlays: this.#overlays,
      isAnswering: this.#questionKeys.isAnswering,
      hint: this.#promptKeys.hint,
      status: this.#status,
      inbox: this.#conversation?.inbox ?? [],
      moves: this.#moves,
      links: this.#links,
      highlight: this.#highlight.now,
    };
  }

  #changed(): void {
    this.#screen.changed();
    const isMoving = this.view.doing !== undefined && !this.#isClosed;
    if (isMoving) this.#highlight.load();
    this.#screen.animate(isMoving ? (this.#moves ? SPIN_TIME : STILL_TIME) : undefined);
  }
}
