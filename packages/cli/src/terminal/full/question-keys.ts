import type { TalkAction } from "../contract/terminal.ts";
import type { KeyAction } from "./keys/actions.ts";
import type { KeyBindings } from "./keys/key-bindings.ts";
import { characterOf } from "./keys/keyboard.ts";
import type { Overlay } from "./overlay/overlay.ts";
import { Viewer } from "./overlay/viewer.ts";
import type { OverlayStack } from "./overlay-stack.ts";
import type { PromptBox } from "./prompt/prompt.ts";
import type { PromptKeys } from "./prompt-keys.ts";

export interface QuestionKeysOptions {
  readonly overlays: OverlayStack;
  readonly prompt: PromptBox;
  readonly promptKeys: PromptKeys;
  keys(): KeyBindings;
  onAction?(action: TalkAction): void;
}

/**
 * Decides whether a key belongs to the question or to the prompt, so that text is never an answer (T64). One printing
 * key only marks a choice. A second printing key shows that the user writes a text, and both go into the prompt. While
 * the prompt contains text, keys belong to the prompt until the user moves to the question.
 */
export class QuestionKeys {
  readonly #options: QuestionKeysOptions;
  /** True if the last key was a printing one: the next one continues a text. */
  #isInText = false;
  /** The printing key that was a mark, and its question. */
  #mark: { readonly key: string; readonly question: Overlay<unknown> } | undefined;
  /** The question to which the user moved from a prompt with text. */
  #movedTo: Overlay<unknown> | undefined;

  constructor(options: QuestionKeysOptions) {
    this.#options = options;
  }

  /** True if keys belong to the question at the top. */
  get isAnswering(): boolean {
    const { overlays, prompt } = this.#options;
    const { top } = overlays;
    return overlays.isArmed && (prompt.isEmpty || top?.isWriting === true || top === this.#movedTo);
  }

  /** Handles a key while `question` is at the top. */
  key(key: string, question: Overlay<unknown>): void {
    const { overlays, prompt, promptKeys, keys } = this.#options;
    overlays.delay();
    if (this.#mark && this.#mark.question !== question) this.#writesText();
    const isPrinting = characterOf(key) !== undefined;
    const continues = this.#isInText;
    this.#isInText = isPrinting;
    const isAnswering = this.isAnswering;
    if (isPrinting && !question.isWriting) {
      if (isAnswering && !continues && question.mark?.(key, keys())) this.#mark = { key, question };
      else this.#type(key, question);
      return;
    }
    const mark = this.#mark;
    this.#mark = undefined;
    if (isAnswering) {
      if (this.#beside(key, question)) return;
      if (mark && keys().matches(key, "delete-back")) question.unmark?.();
      else if (keys().matches(key, "complete") && !prompt.isEmpty && !question.isWriting) this.#movedTo = undefined;
      else overlays.key(key, keys());
    } else if (!prompt.isEmpty && !prompt.isCompleting && MOVES.some((to) => keys().matches(key, to)))
      this.#movedTo = question;
    else if (overlays.page && !overlays.isArmed) overlays.key(key, keys());
    else if (!prompt.isEmpty || keys().matches(key, "cancel")) promptKeys.key(key);
  }

  /** Handles a paste while `question` is at the top. */
  paste(text: string, question: Overlay<unknown>): void {
    if (question.isWriting && this.#options.overlays.isArmed) return question.paste?.(text);
    this.#writesText();
    this.#isInText = true;
    question.unmark?.();
    this.#options.promptKeys.paste(text);
  }

  /** Called for a key that goes to a page or a list, or to the prompt without a question. */
  passes(key: string): void {
    this.#writesText();
    this.#isInText = !this.#options.overlays.top && characterOf(key) !== undefined;
  }

  /** During a question, the user may view the sub-agents, change the approval mode, or see the question in full. */
  #beside(key: string, question: Overlay<unknown>): boolean {
    const { overlays, keys, onAction } = this.#options;
    if (overlays.page) return false;
    const does = (action: KeyAction) => keys().matches(key, action);
    if (does("agents")) onAction?.("agents");
    else if (does("approval-mode")) onAction?.("approval-mode");
    else if (does("open-output") && question.page) overlays.open(new Viewer([question.page])).catch(() => {});
    else return false;
    return true;
  }

  #type(key: string, question: Overlay<unknown>): void {
    const { prompt, promptKeys } = this.#options;
    this.#writesText();
    question.unmark?.();
    this.#movedTo = undefined;
    if (prompt.isEmpty) prompt.type(key);
    else promptKeys.key(key);
  }

  /** The last mark was the beginning of a text: takes back the mark, and moves its character into the prompt. */
  #writesText(): void {
    const mark = this.#mark;
    if (!mark) return;
    this.#mark = undefined;
    mark.question.unmark?.();
    this.#options.prompt.type(mark.key);
  }
}

/** Keys that move from a prompt with text to the question. */
const MOVES = ["complete", "list-up", "list-down"] as const satisfies readonly KeyAction[];
