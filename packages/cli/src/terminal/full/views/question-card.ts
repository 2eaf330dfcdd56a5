import type { AutocompleteProvider } from "@earendil-works/pi-tui";
import type { KeyBindings } from "../keys/key-bindings.ts";
import { PromptEditor } from "../prompt/prompt-editor.ts";
import { cut } from "../screen/cells.ts";
import type { Size } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";
import type { Over, Overlay, View } from "./overlay.ts";
import { rule } from "./rule.ts";

/** A question that is answered with words, in an editor of its own. */
export class QuestionCard implements Overlay<string> {
  readonly isFull = false;
  readonly #prompt: string;
  readonly #editor: PromptEditor;
  #answer: string | undefined;

  constructor(prompt: string, initial: string, keys: KeyBindings, theme: () => Theme, onChange: () => void) {
    this.#prompt = prompt.trim();
    this.#editor = new PromptEditor({
      keys,
      theme,
      onChange,
      completion: NOTHING,
      onSend: (text) => {
        this.#answer = text;
      },
    });
    this.#editor.set(initial);
  }

  view({ columns, rows }: Size, theme: Theme): View {
    const { lines, cursor } = this.#editor.lines(columns, rows);
    const hint = theme.dim(cut("Enter answers · Esc stops the agent", columns));
    const head = rule(theme.warning(this.#prompt), columns, theme);
    return { lines: [head, ...lines, hint], cursor: { ...cursor, row: cursor.row + 1 } };
  }

  key(key: string, keys: KeyBindings): Over<string> | undefined {
    if (keys.matches(key, "cancel") || keys.matches(key, "interrupt")) return {};
    this.#editor.key(key);
    return this.#answer === undefined ? undefined : { result: this.#answer };
  }

  paste(text: string): void {
    this.#editor.paste(text);
  }
}

const NOTHING: AutocompleteProvider = {
  getSuggestions: async () => null,
  applyCompletion: (lines, cursorLine, cursorCol) => ({ lines, cursorLine, cursorCol }),
};
