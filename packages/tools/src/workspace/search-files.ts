import { basename } from "node:path/posix";
import { systemCode, WorkspaceError } from "./error.ts";
import { feedLines, type Line, LineSplitter, pieceOfFile } from "./file-text.ts";
import { rulesDownTo } from "./git-ignore.ts";
import { type OpenDirectory, openDirectory, openFile, openFileInside } from "./open-path.ts";
import type { Location, Workspace } from "./paths.ts";
import type { Match } from "./search-matches.ts";
import { compileGlob, compilePattern } from "./search-pattern.ts";
import { walk } from "./walk.ts";

/** The pattern and place of a search in files or texts. Plain data, for a worker. */
export type SearchQuery = Query | TextQuery;

/** A search in texts that are at hand. */
export interface TextQuery {
  readonly pattern: string;
  /** Each with what stands in the place of a path. */
  readonly texts: readonly { readonly address: string; readonly text: string }[];
}

/** A search in files. */
export interface Query {
  readonly workspace: Workspace;
  readonly pattern: string;
  /** A file or a folder. */
  readonly place: Location;
  readonly glob: string | undefined;
  /** The files to look into, when they are known; otherwise all that the place, the glob and the ignore files leave. */
  readonly files?: readonly string[];
}

/** Of a longer line, only the beginning is searched. Bytes. */
const LONGEST_LINE = 1024 * 1024;
const LONGEST_SHOWN = 1000;

/**
 * Searches files line by line, in the order of their paths, and tells of each match until `found` wants no more. Binary
 * files, and what git ignores, are passed over; a file named by itself is searched anyway. Runs a regular expression
 * that may take for ever: only for a worker that can be ended.
 */
export async function searchFiles(query: Query, found: (match: Match) => boolean): Promise<void> {
  const { workspace, place } = query;
  const search: Search = { workspace, pattern: compilePattern(query.pattern), found, piece: pieceOfFile() };
  const isWanted = compileGlob(query.glob);
  if (place.kind === "file" || query.files) {
    for (const path of query.files ?? [place.path]) if (!(await searchFile(search, path))) return;
    return;
  }
  await using directory = await openDirectory(workspace, place.real);
  const rules = await rulesDownTo(workspace, place.path);
  for await (const entry of walk(workspace, directory, place.path, { depth: Number.POSITIVE_INFINITY, rules })) {
    if (entry.kind !== "file" || !isWanted(entry.path)) continue;
    if (!(await searchFile(search, entry.path, entry.directory))) return;
  }
}

/** Searches texts line by line, as `searchFiles` does. */
export function searchTexts({ pattern, texts }: TextQuery, found: (match: Match) => boolean): void {
  const expression = compilePattern(pattern);
  for (const { address, text } of texts) {
    for (const [index, line] of text.split(/\r?\n/).entries()) {
      const match = { path: address, line: index + 1, text: line.slice(0, LONGEST_SHOWN) };
      if (expression.test(line.slice(0, LONGEST_LINE)) && !found(match)) return;
    }
  }
}

interface Search {
  readonly workspace: Workspace;
  readonly pattern: RegExp;
  readonly found: (match: Match) => boolean;
  readonly piece: Buffer;
}

/** Whether more matches are wanted. `parent` is the folder that the file lies in, if it is open. */
async function searchFile({ workspace, pattern, found, piece }: Search, path: string, parent?: OpenDirectory) {
  let wantsMore = true;
  const take = ({ number, bytes }: Line) => {
    const text = bytes.toString("utf8");
    if (pattern.test(text)) wantsMore = found({ path, line: number, text: text.slice(0, LONGEST_SHOWN) });
    return wantsMore;
  };
  try {
    await using file = parent
      ? await openFileInside(workspace, parent, basename(path), path)
      : await openFile(workspace, path);
    // A link took its place, and what it leads to was not judged.
    if (file.path !== path) return true;
    await feedLines(file.handle, new LineSplitter({ limit: LONGEST_LINE, first: 1, take }), { piece });
  } catch (error) {
    // A file that went away or may not be read is no reason to keep the others' matches back.
    if (systemCode(error) === undefined && !(error instanceof WorkspaceError)) throw error;
  }
  return wantsMore;
}
