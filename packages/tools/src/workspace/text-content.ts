import { isUtf8 } from "node:buffer";
import type { Stats } from "node:fs";
import { WorkspaceError } from "./error.ts";
import { formOf, SNIFFED_BYTES } from "./file-text.ts";
import type { Watch } from "./key-file.ts";
import { openFile } from "./open-path.ts";
import type { Workspace } from "./paths.ts";

/** How the lines of a text end. `mixed`: some one way, some the other. */
export type LineEnds = "lf" | "crlf" | "mixed" | "none";

/** A whole text file in memory, and what is needed to write it back as it was. */
export interface TextContent {
  /** From the root. */
  readonly path: string;
  /** Without the byte-order mark, line ends as they are. */
  readonly text: string;
  /** The byte-order mark, or nothing. */
  readonly mark: string;
  readonly lineEnds: LineEnds;
  readonly bytes: Buffer;
  /** What was read, to notice a change before writing. */
  readonly stats: Stats;
}

/** Files beyond this size, in bytes, are not changed as text. */
const MOST_BYTES = 64 * 1024 * 1024;

const MARK = "\ufeff";

/** Reads a file that is UTF-8 from its first to its last byte; throws a `WorkspaceError` that says why it is not. `watch` is told of it. */
export async function readText(workspace: Workspace, given: string, watch?: Watch): Promise<TextContent> {
  await using file = await openFile(workspace, given);
  if (file.stats.size > MOST_BYTES) {
    throw new WorkspaceError(
      "content",
      `${file.path} is too large to be changed as text: ${file.stats.size} bytes, of at most ${MOST_BYTES}.`,
    );
  }
  const bytes = await file.handle.readFile();
  const form = formOf(bytes.subarray(0, SNIFFED_BYTES));
  if (form.kind === "binary")
    throw new WorkspaceError(
      "content",
      `${file.path} is ${form.what}, ${bytes.length} bytes; only text can be changed.`,
    );
  if (form.encoding !== "utf-8" || !isUtf8(bytes)) {
    const encoding = form.encoding === "utf-8" ? "not valid UTF-8" : form.encoding.toUpperCase();
    throw new WorkspaceError(
      "content",
      `${file.path} is ${encoding}; only UTF-8 text can be changed, so that no byte is lost.`,
    );
  }
  const all = bytes.toString("utf8");
  const text = all.startsWith(MARK) ? all.slice(1) : all;
  watch?.()(text);
  return {
    path: file.path,
    text,
    mark: all.startsWith(MARK) ? MARK : "",
    lineEnds: lineEndsOf(text),
    bytes,
    stats: file.stats,
  };
}

/** How the lines of a text end. A carriage return alone ends none. */
export function lineEndsOf(text: string): LineEnds {
  let windows = 0;
  let unix = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (text[at - 1] === "\r") windows += 1;
    else unix += 1;
  }
  if (windows === 0) return unix === 0 ? "none" : "lf";
  return unix === 0 ? "crlf" : "mixed";
}

/** The number of lines; a line end at the very end begins no further line. */
export function countLines(text: string): number {
  if (text === "") return 0;
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** The number of the line, from 1, in which a place of a text lies. */
export function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < place; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** A number of lines in words: `1 line`, `2 lines`. */
export function linesInWords(lines: number): string {
  return lines === 1 ? "1 line" : `${lines} lines`;
}

/** The bytes of a text. Half a surrogate pair has no bytes in UTF-8, so a text with one is refused. */
export function encode(path: string, text: string): Buffer {
  if (!text.isWellFormed())
    throw new WorkspaceError(
      "content",
      `The new text for ${path} contains half a character (a lone surrogate). Send it whole.`,
    );
  return Buffer.from(text, "utf8");
}
