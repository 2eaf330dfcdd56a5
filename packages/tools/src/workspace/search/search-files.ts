import { isUtf8 } from "node:buffer";
import { basename, dirname, join } from "node:path/posix";
import { StringDecoder } from "node:string_decoder";
import { systemCode, WorkspaceError } from "../files/error.ts";
import { type FileLine, feedLines, LineSplitter, pieceOfFile, type TextSink } from "../files/file-text.ts";
import { type OpenDirectory, openDirectory, openFileInside } from "../files/open-path.ts";
import type { Workspace } from "../files/paths.ts";
import { isUnreadable } from "../files/walk.ts";
import { excerptAround } from "./search-excerpt.ts";
import type { SearchMatch, UnsearchedFile } from "./search-matches.ts";
import { type Pattern, translate } from "./search-pattern.ts";

/** A search in files or texts, as plain data that can be sent to a worker. */
export type SearchQuery = FileQuery | TextQuery;

export interface TextQuery {
  readonly pattern: string;
  /** The texts, each with an address that is shown like a path. */
  readonly texts: readonly { readonly address: string; readonly text: string }[];
}

export interface FileQuery {
  readonly workspace: Workspace;
  readonly pattern: string;
  /** Relative to the root. */
  readonly files: readonly string[];
}

/** Bytes of a line to hold in memory, or of a file if a match may span lines. The user gets a note about longer ones. */
const MOST_HELD = 16 * 1024 * 1024;

const MOST_LINES = 10;

/** Receives the results of a search. */
export interface SearchListener {
  /** Returns whether more matches are wanted. */
  readonly found: (match: SearchMatch) => boolean;
  readonly skipped: (skipped: UnsearchedFile) => void;
}

/**
 * Searches files in order and reports each match until no more is wanted. The regular expression may run for ever, so
 * call this only in a worker that can be ended.
 */
export async function searchFiles({ workspace, files, pattern }: FileQuery, listener: SearchListener): Promise<void> {
  const search: FileSearch = { workspace, pattern: translate(pattern), listener, piece: pieceOfFile() };
  let folder: { readonly path: string; readonly opened: OpenDirectory } | undefined;
  try {
    for (const path of files) {
      try {
        if (folder?.path !== dirname(path)) {
          await folder?.opened[Symbol.asyncDispose]();
          folder = undefined;
          folder = { path: dirname(path), opened: await openDirectory(workspace, join(workspace.root, dirname(path))) };
        }
        if (!(await searchFile(search, path, folder.opened))) return;
      } catch (error) {
        if (endsMatching(error)) listener.skipped({ path, why: "depth" });
        // A removed file, or a file replaced by a link, must not hide the other files' matches.
        else if (systemCode(error) === undefined && !(error instanceof WorkspaceError)) throw error;
        else if (isUnreadable(error, path)) listener.skipped({ path, why: "unreadable" });
      }
    }
  } finally {
    await folder?.opened[Symbol.asyncDispose]();
  }
}

/** Searches texts like `searchFiles`. */
export function searchTexts({ pattern, texts }: TextQuery, { found, skipped }: SearchListener): void {
  const translated = translate(pattern);
  for (const { address, text } of texts) {
    try {
      for (const match of findMatches(translated, text)) if (!found({ path: address, ...match })) return;
    } catch (error) {
      if (!endsMatching(error)) throw error;
      skipped({ path: address, why: "depth" });
    }
  }
}

/** Returns whether a regular expression ran out of memory on a long line. */
function endsMatching(error: unknown): boolean {
  return error instanceof RangeError;
}

interface FileSearch {
  readonly workspace: Workspace;
  readonly pattern: Pattern;
  readonly listener: SearchListener;
  readonly piece: Buffer;
}

async function searchFile(
  { workspace, pattern, listener, piece }: FileSearch,
  path: string,
  parent: OpenDirectory,
): Promise<boolean> {
  await using file = await openFileInside(workspace, parent, basename(path), path);
  const first = new NeededText(pattern);
  const form = await feedLines(file.handle, first, { piece });
  if (form.kind === "binary") listener.skipped({ path, why: "binary" });
  if (form.kind === "binary" || !first.isThere) return true;
  let wantsMore = true;
  const tell = (match: Omit<SearchMatch, "path">) => {
    wantsMore = listener.found({ path, ...match });
    return wantsMore;
  };
  if (pattern.spans) {
    const whole = new WholeText();
    await feedLines(file.handle, whole, { piece });
    const { text } = whole;
    if (text === undefined) listener.skipped({ path, why: "size" });
    else for (const match of findMatches(pattern, text)) if (!tell(match)) break;
    return wantsMore;
  }
  const take = ({ number, bytes, dropped }: FileLine) => {
    const text = decodeLeniently(bytes);
    const at = pattern.expression.exec(text)?.index;
    if (dropped > 0) listener.skipped({ path, why: "line" });
    return at === undefined || tell({ line: number, text: excerptAround(text, at) });
  };
  await feedLines(file.handle, new LineSplitter({ limit: MOST_HELD, first: 1, take }), { piece });
  return wantsMore;
}

/** Decodes text. Invalid UTF-8 is usually Latin-1 or a similar encoding. */
function decodeLeniently(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");
}

function* findMatches({ expression, spans, raw }: Pattern, whole: string): Generator<Omit<SearchMatch, "path">> {
  const text = raw ? whole : whole.replaceAll("\r\n", "\n");
  if (spans) {
    yield* matchesAcrossLines(expression, text);
    return;
  }
  for (const [index, line] of outputLines(text).entries()) {
    const at = expression.exec(line)?.index;
    if (at !== undefined) yield { line: index + 1, text: excerptAround(line, at) };
  }
}

function outputLines(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** Yields the lines that matches cover, each line once. */
function* matchesAcrossLines(expression: RegExp, text: string): Generator<Omit<SearchMatch, "path">> {
  let line = 1;
  let start = 0;
  let shown = 0;
  for (const { index, 0: match } of text.matchAll(expression)) {
    // After the last line end, no line follows.
    if (index === text.length && (index === 0 || text.endsWith("\n"))) return;
    for (let end = text.indexOf("\n", start); end >= 0 && end < index; end = text.indexOf("\n", start)) {
      line += 1;
      start = end + 1;
    }
    const lines = outputLines(text.slice(start, index + match.length)).length || 1;
    for (let nth = 0, from = start; nth < Math.min(lines, MOST_LINES); nth += 1) {
      const end = text.indexOf("\n", from);
      const content = text.slice(from, end < 0 ? text.length : end).replace(/\r$/, "");
      if (line + nth > shown) yield { line: line + nth, text: excerptAround(content, nth === 0 ? index - from : 0) };
      from = end + 1;
    }
    shown = Math.max(shown, line + Math.min(lines, MOST_LINES) - 1);
  }
}

/** Checks whether a text contains one of the texts that every match contains; always true if no such text is known. */
class NeededText implements TextSink {
  readonly #expression: RegExp | undefined;
  readonly #longest: number;
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  isThere: boolean;

  constructor({ needs, ignoresCase }: Pattern) {
    this.#longest = Math.max(0, ...needs.map(({ length }) => length));
    this.isThere = needs.length === 0;
    if (!this.isThere) this.#expression = new RegExp(needs.map(RegExp.escape).join("|"), ignoresCase ? "iv" : "v");
  }

  push(piece: Buffer): boolean {
    if (this.#expression === undefined) return false;
    const text = this.#rest + this.#decoder.write(piece);
    this.isThere = this.#expression.test(text);
    this.#rest = text.slice(-this.#longest);
    return !this.isThere;
  }

  end(): void {}
}

class WholeText implements TextSink {
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  push(piece: Buffer): boolean {
    this.#bytes += piece.length;
    if (this.#bytes <= MOST_HELD) this.#pieces.push(Buffer.from(piece));
    return this.#bytes <= MOST_HELD;
  }

  end(): void {}

  get text(): string | undefined {
    return this.#bytes > MOST_HELD ? undefined : decodeLeniently(Buffer.concat(this.#pieces));
  }
}
