import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from "@earendil-works/pi-tui";
import { oneLine } from "../../../show/plain-text.ts";
import { cut } from "../screen/cells.ts";

/** Something that a word can be completed to. */
export interface Suggestion {
  /** What stands in the prompt then. One that ends with `/` can be completed further. */
  readonly text: string;
  /** What is shown instead, where that differs. */
  readonly label?: string;
  readonly help?: string;
  /** What may or must stand behind it, as the end of a line: `takes [#n]`. */
  readonly takes?: string;
}

/** The word before the cursor. */
export interface Word {
  /** With the sign that it begins with; a path with blanks stands in quotes behind `@`. */
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
    const text = /(?:^|\s)(@"[^"]*|\S*)$/.exec(before)?.[1] ?? "";
    const word: Word = { text, isFirst: cursorLine === 0 && before.trimStart() === text, isAsked: force };
    // The editor does not handle a rejection, which would end the program: one key aborts a look that is on its way.
    const found = await Promise.allSettled(this.#completers().map((completer) => completer.suggest(word, signal)));
    const offered = found.flatMap((one) => (one.status === "fulfilled" && one.value) || []).slice(0, MOST);
    if (!signal.aborted) this.#offered = offered;
    return offered.length === 0 ? null : { items: offered.map(itemOf), prefix: text };
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
    const inserted = item.value.endsWith("/") ? item.value : `${item.value} `;
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
