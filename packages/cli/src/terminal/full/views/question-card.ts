import type { AutocompleteProvider } from "@earendil-works/pi-tui";
import { placedTitle, type TerminalQuestion } from "../../questions/question.ts";
import type { KeyBindings } from "../keys/key-bindings.ts";
import { keyHint, rule } from "../overlay/drawn-lines.ts";
import type { Overlay, OverlayEnd, OverlayView } from "../overlay/overlay.ts";
import { hiddenLines, PromptEditor, type PromptEditorOptions } from "../prompt/prompt-editor.ts";
import { cutToWidth } from "../screen/cells.ts";
import type { ScreenSize } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";

/** A question that the user answers with text in an editor. Enter begins the answer (T64). */
export class QuestionCard implements Overlay<string> {
  readonly isFull = false;
  readonly #question: TerminalQuestion;
  readonly #editor: PromptEditor;
  #answer: string | undefined;
  /** True while the user writes. If the user came here by a choice, from the beginning. */
  #isWriting: boolean;
  readonly #editOutside: ((text: string) => Promise<string>) | undefined;

  /** `editOutside` edits a text in the user's own editor, if one is set. */
  constructor(
    question: TerminalQuestion,
    editor: Pick<PromptEditorOptions, "keys" | "theme" | "onChange">,
    editOutside?: (text: string) => Promise<string>,
  ) {
    this.#question = question;
    this.#isWriting = question.again ?? false;
    this.#editOutside = editOutside;
    this.#editor = new PromptEditor({
      ...editor,
      completion: NOTHING,
      onSend: (text) => {
        this.#answer = text;
      },
    });
    this.#editor.set(question.initial ?? "");
  }

  view({ columns, rows }: ScreenSize, theme: Theme): OverlayView {
    const { lines, cursor, above, below } = this.#editor.lines(columns, Math.floor(rows * MORE_ROWS));
    const does = this.#isWriting ? "Enter answers" : "Press Enter to write your answer";
    const hint = theme.dim(cutToWidth(does, columns));
    const hidden = above + below > 0 ? theme.dim(hiddenLines(above, below)) : "";
    const title = placedTitle(this.#question.prompt.trim(), this.#question);
    const head = rule(theme.warning(title), columns, theme, hidden);
    return {
      lines: [head, ...lines, hint],
      cursor: this.#isWriting ? { ...cursor, row: cursor.row + 1 } : undefined,
    };
  }

  key(key: string, keys: KeyBindings): OverlayEnd<string> | undefined {
    if (keys.matches(key, "cancel")) return {};
    if (keys.matches(key, "interrupt")) return this.#question.onBack ? { isBack: true } : {};
    if (keys.matches(key, "external-editor") && this.#editOutside) {
      this.#editOutside(this.#editor.text).then(
        (text) => {
          this.#editor.set(text);
          this.#written();
        },
        () => {
          // The terminal shows the reason; the text stays unchanged.
        },
      );
      return undefined;
    }
    if (!this.#isWriting) {
      this.#isWriting = keys.matches(key, "list-choose");
      return undefined;
    }
    this.#editor.key(key);
    // An editor clears itself when it sends its text.
    if (this.#answer !== undefined) return { result: this.#answer };
    this.#written();
    return undefined;
  }

  mark(): boolean {
    return false;
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  spares(key: string, keys: KeyBindings): boolean {
    return !this.#question.onBack && keys.matches(key, "interrupt");
  }

  footer(keys: KeyBindings): readonly string[] {
    return [
      keyHint(keys, "interrupt", this.#question.onBack ? "goes back" : "stops the agent"),
      keyHint(keys, "line-break", "begins a line"),
      ...(this.#editOutside ? [keyHint(keys, "external-editor", "opens your editor")] : []),
    ];
  }

  paste(text: string): void {
    this.#editor.paste(text);
    this.#written();
  }

  #written(): void {
    this.#question.onDraft?.(this.#editor.text);
  }
}

const MORE_ROWS = 2;

const NOTHING: AutocompleteProvider = {
  getSuggestions: async () => null,
  applyCompletion: (lines, cursorLine, cursorCol) => ({ lines, cursorLine, cursorCol }),
};
