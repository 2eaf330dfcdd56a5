import { visibleLine } from "@banyan/core/shown";
import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from "@earendil-works/pi-tui";
import { plainLine } from "../../../show/plain-text.ts";
import { cutToWidth } from "../screen/cells.ts";

/** A completion of a word. */
export interface PromptSuggestion {
  /** Text that replaces the word. A text that ends with `/` or `/"` can be completed further. */
  readonly text: string;
  readonly label?: string;
  readonly help?: string;
  /** The arguments of a command, as the end of a line: `takes [#n]`. */
  readonly takes?: string;
}

export interface CursorWord {
  /**
   * The word before the cursor, with its leading sign. A path with spaces is in quotes after `@`, and without quotes
   * after Tab.
   */
  readonly text: string;
  readonly isFirst: boolean;
  /** True if the user pressed Tab, rather than just typed. */
  readonly isAsked: boolean;
}

export interface Completer {
  /** Suggestions, best first; undefined for other kinds of words. If it rejects, other completers still work. */
  suggest(word: CursorWord, signal: AbortSignal): Promise<readonly PromptSuggestion[] | undefined>;
  /** Returns whether `typed` can only mean `completed` without arguments: Enter then sends it. */
  isMeant?(typed: string, completed: string): boolean;
}

const MOST = 50;

/** Columns of a suggestion next to its help: the editor would cut it there without an ellipsis. */
const BESIDE_HELP = 30;

/** Asks all completers for completions of the word before the cursor, and lists these in order. */
export class Completion implements AutocompleteProvider {
  readonly #completers: () => readonly Completer[];
  #offered: readonly PromptSuggestion[] = [];
  #completed: PromptSuggestion | undefined;

  constructor(completers: () => readonly Completer[]) {
    this.#completers = completers;
  }

  get completed(): PromptSuggestion | undefined {
    return this.#completed;
  }

  async getSuggestions(
    lines: string[],
    cursorLine: number,
    cursorCol: number,
    { signal, force = false }: { signal: AbortSignal; force?: boolean },
  ): Promise<AutocompleteSuggestions | null> {
    const before = (lines[cursorLine] ?? "").slice(0, cursorCol);
    const word = /(?:^|\s)(@"[^"]*(?:\/"[^\s"]*)?|\S*)$/.exec(before)?.[1] ?? "";
    // After `@foo b`, Tab may mean a path with a space.
    const path = force && !word.startsWith("@") ? /(?:^|\s)(@[^\s"@][^"@]*)$/.exec(before)?.[1] : undefined;
    for (const text of path === undefined ? [word] : [path, word]) {
      const isFirst = cursorLine === 0 && before.trimStart() === text;
      const offered = await this.#suggest({ text, isFirst, isAsked: force }, signal);
      if (!signal.aborted) this.#offered = offered;
      if (offered.length > 0) return { items: offered.map(suggestionItem), prefix: text };
    }
    return null;
  }

  async #suggest(word: CursorWord, signal: AbortSignal): Promise<readonly PromptSuggestion[]> {
    // The editor does not handle a rejection, which would end the program: one key aborts a pending search.
    const found = await Promise.allSettled(this.#completers().map((completer) => completer.suggest(word, signal)));
    return found.flatMap((one) => (one.status === "fulfilled" && one.value) || []).slice(0, MOST);
  }

  /** Returns whether Enter, which completed the typed text, also sends it. */
  isMeant(typed: string, completed: string): boolean {
    return this.#completers().some((completer) => completer.isMeant?.(typed, completed));
  }

  applyCompletion(lines: string[], cursorLine: number, cursorCol: number, item: AutocompleteItem, prefix: string) {
    const line = lines[cursorLine] ?? "";
    // The user has typed on, and new suggestions are not here yet.
    if (!line.slice(0, cursorCol).endsWith(prefix)) return { lines, cursorLine, cursorCol };
    this.#completed = this.#offered.find(({ text }) => text === item.value);
    // After a folder, completion continues with its content.
    const inserted = /\/"?$/.test(item.value) ? item.value : `${item.value} `;
    const before = line.slice(0, cursorCol - prefix.length) + inserted;
    const after = line.slice(cursorCol).replace(inserted.endsWith(" ") ? /^ / : /^$/, "");
    return { lines: lines.with(cursorLine, before + after), cursorLine, cursorCol: before.length };
  }
}

function suggestionItem({ text, label = text, help }: PromptSuggestion): AutocompleteItem {
  const shown = visibleLine(label);
  if (help === undefined) return { value: text, label: shown };
  return { value: text, label: cutToWidth(shown, BESIDE_HELP), description: plainLine(help) };
}
