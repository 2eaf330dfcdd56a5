import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from "@earendil-works/pi-tui";
import { oneLine } from "../../../show/plain-text.ts";
import { cut } from "../screen/cells.ts";

/** Something that a word can be completed to. */
export interface Suggestion {
  /** The text in the prompt then. A text that ends with `/` or `/"` can be completed further. */
  readonly text: string;
  /** What is shown instead, where that differs. */
  readonly label?: string;
  readonly help?: string;
  /** What may or must stand behind it, as the end of a line: `takes [#n]`. */
  readonly takes?: string;
}

/** The word before the cursor. */
export interface Word {
  /** With the sign that it begins with; a path with blanks stands in quotes behind `@`, or as it is when it is asked for. */
  readonly text: string;
  /** It is the first of the message. */
  readonly isFirst: boolean;
  /** A person asked with Tab; else they are just typing. */
  readonly isAsked: boolean;
}

/** Completes words of one kind. */
export interface Completer {
  /** The best first; nothing when the word is of another kind. When it fails, the others still suggest. */
  suggest(word: Word, signal: AbortSignal): Promise<readonly Suggestion[] | undefined>;
  /** Whether `typed` can only mean `completed`, and nothing has to stand behind it: then Enter sends it. */
  isMeant?(typed: string, completed: string): boolean;
}

/** Suggestions that are listed at the most. */
const MOST = 50;

/** Columns that a suggestion has beside its help: the editor would cut it there without a sign of it. */
const BESIDE_HELP = 30;

/** Asks the completers for the word before the cursor, in the editor's terms. All that they know is listed, kind by kind. */
export class Completion implements AutocompleteProvider {
  readonly #completers: () => readonly Completer[];
  #offered: readonly Suggestion[] = [];
  #completed: Suggestion | undefined;

  constructor(completers: () => readonly Completer[]) {
    this.#completers = completers;
  }

  /** What a word was completed to last. */
  get completed(): Suggestion | undefined {
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
    // A user who presses Tab behind `@foo b` can mean a path with a blank.
    const path = force && !word.startsWith("@") ? /(?:^|\s)(@[^\s"@][^"@]*)$/.exec(before)?.[1] : undefined;
    for (const text of path === undefined ? [word] : [path, word]) {
      const isFirst = cursorLine === 0 && before.trimStart() === text;
      const offered = await this.#suggest({ text, isFirst, isAsked: force }, signal);
      if (!signal.aborted) this.#offered = offered;
      if (offered.length > 0) return { items: offered.map(itemOf), prefix: text };
    }
    return null;
  }

  async #suggest(word: Word, signal: AbortSignal): Promise<readonly Suggestion[]> {
    // The editor does not handle a rejection, which would end the program: one key aborts a look that is on its way.
    const found = await Promise.allSettled(this.#completers().map((completer) => completer.suggest(word, signal)));
    return found.flatMap((one) => (one.status === "fulfilled" && one.value) || []).slice(0, MOST);
  }

  /** Whether Enter, which completed what was typed, is to send it too. */
  isMeant(typed: string, completed: string): boolean {
    return this.#completers().some((completer) => completer.isMeant?.(typed, completed));
  }

  applyCompletion(lines: string[], cursorLine: number, cursorCol: number, item: AutocompleteItem, prefix: string) {
    const line = lines[cursorLine] ?? "";
    // Somebody has typed on, and what is offered for that has not come yet.
    if (!line.slice(0, cursorCol).endsWith(prefix)) return { lines, cursorLine, cursorCol };
    this.#completed = this.#offered.find(({ text }) => text === item.value);
    // Behind a folder goes on what is in it.
    const inserted = /\/"?$/.test(item.value) ? item.value : `${item.value} `;
    const before = line.slice(0, cursorCol - prefix.length) + inserted;
    const after = line.slice(cursorCol).replace(inserted.endsWith(" ") ? /^ / : /^$/, "");
    return { lines: lines.with(cursorLine, before + after), cursorLine, cursorCol: before.length };
  }
}

function itemOf({ text, label = text, help }: Suggestion): AutocompleteItem {
  const shown = oneLine(label);
  if (help === undefined) return { value: text, label: shown };
  return { value: text, label: cut(shown, BESIDE_HELP), description: oneLine(help) };
}
