import { shownPath } from "../files/named-path.ts";
import { shortNameList, showControls } from "../files/plain-text.ts";
import type { SkippedEntry } from "../files/walk.ts";

/** A matching line. */
export interface SearchMatch {
  /** Relative to the root. */
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** A file that was not searched completely. */
export interface UnsearchedFile {
  readonly path: string;
  /**
   * `size`: the file is too large for a pattern that spans lines. `line`: the end of a very long line was not searched.
   * `depth`: a line was too long for the pattern, and the search of the file ended there.
   */
  readonly why: "binary" | "unreadable" | "size" | "line" | "depth";
}

/** Notes of a search in addition to its matches. */
export interface SearchNotes {
  readonly leftOut?: readonly SkippedEntry[];
  readonly links?: readonly string[];
  /** Parts of the pattern that may have another meaning. */
  readonly notes?: readonly string[];
  /** Advice if nothing matched. */
  readonly advice?: readonly string[];
  /** The reason that the search is incomplete; absent if the search is complete. */
  readonly stopped?: string;
}

const MOST_MATCHES = 200;
const MOST_BYTES = 60_000;
const MOST_COUNTED = 10_000;
/** Matches text that may be a line of a key. */
const KEY_LIKE = /[A-Za-z0-9+/]{16,}/g;

/**
 * The matches of one search: the first matches in full, and the number of all. Matches in files that are not `open` are
 * dropped and not counted: even their number would reveal content.
 */
export class Matches {
  readonly #isOpen: ((path: string) => boolean) | undefined;
  readonly #lines: string[] = [];
  #bytes = 0;
  #count = 0;
  readonly #skipped: UnsearchedFile[] = [];
  #isFull = false;
  readonly #mayHoldKeys = new Map<string, number>();

  constructor(isOpen?: (path: string) => boolean) {
    this.#isOpen = isOpen;
  }

  /** Adds a match. Returns whether more are wanted. */
  add(match: SearchMatch): boolean {
    if (this.#isOpen?.(match.path) === false) return true;
    this.#count += 1;
    if (!this.#isFull) {
      const line = `${shownPath(match.path)}:${match.line}:${showControls(match.text)}\n`;
      this.#bytes += Buffer.byteLength(line);
      this.#isFull = this.#lines.length === MOST_MATCHES || this.#bytes > MOST_BYTES;
      if (!this.#isFull) this.#show(match, line);
    }
    return this.#count < MOST_COUNTED;
  }

  skip(skipped: UnsearchedFile): void {
    this.#skipped.push(skipped);
  }

  /** Files with a shown line that may belong to a private key, with the number of the last such line. */
  get mayHoldKeys(): ReadonlyMap<string, number> {
    return this.#mayHoldKeys;
  }

  #show({ path, line, text }: SearchMatch, shown: string): void {
    this.#lines.push(shown);
    if (text.match(KEY_LIKE)?.some((word) => /[A-Z]/.test(word) && /[a-z]/.test(word)))
      this.#mayHoldKeys.set(path, line);
  }

  /** Returns `path:line:text` for each match, then the notes. */
  text({ leftOut = [], links = [], notes: meant = [], advice = [], stopped }: SearchNotes = {}): string {
    const notes: string[] = [];
    const isNone = this.#count === 0 && stopped === undefined;
    if (isNone) notes.push("[no matches]", ...advice.map((one) => `[${one}]`));
    if (this.#lines.length < this.#count) {
      const all = this.#count < MOST_COUNTED ? String(this.#count) : `more than ${MOST_COUNTED}`;
      notes.push(
        `[the first ${this.#lines.length} of ${all} matching lines; narrow the search with path, glob or a longer pattern]`,
      );
    }
    notes.push(...meant.map((one) => `[${one}]`));
    if (this.#isOpen) notes.push("[not searched: files that rules on reading close]");
    const unreadable = leftOut.filter(({ why }) => why === "unreadable").map(skippedName);
    const named = (why: UnsearchedFile["why"]) =>
      this.#skipped.filter((one) => one.why === why).map(({ path }) => path);
    const note = (names: readonly string[], why: string) => {
      if (names.length > 0) notes.push(`[not searched: ${shortNameList(names)} (${why})]`);
    };
    note([...unreadable, ...named("unreadable")], "cannot be opened");
    note(named("size"), "over 16 MB, too large for a pattern that spans lines; search by lines, or use a command");
    note([...new Set(named("line"))], "beyond the first 16 MB of a line; use a command");
    note(named("depth"), "not to the end: a line is too long for this pattern; use a simpler pattern, or a command");
    if (isNone) {
      note(namesLeftOut(leftOut), "left out by .gitignore or another ignore file; name one as path to search it");
      note(named("binary"), "binary");
      note(links, "a link");
    }
    if (stopped !== undefined) notes.push(`[${stopped}]`);
    return this.#lines.join("") + notes.map((note) => `${note}\n`).join("");
  }
}

function namesLeftOut(leftOut: readonly SkippedEntry[]): readonly string[] {
  const ignored = leftOut.filter(({ why }) => why === "ignored");
  return [...ignored.filter(({ isFolder }) => isFolder), ...ignored.filter(({ isFolder }) => !isFolder)].map(
    skippedName,
  );
}

function skippedName({ path, isFolder }: SkippedEntry): string {
  return isFolder ? `${path}/` : path;
}
