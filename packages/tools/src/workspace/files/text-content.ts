import { isUtf8 } from "node:buffer";
import type { Stats } from "node:fs";
import { TextDecoder } from "node:util";
import { WorkspaceError } from "./error.ts";
import { type Encoding, type FileForm, formOf, SNIFFED_BYTES } from "./file-text.ts";
import type { Watch } from "./key-file.ts";
import { openFile } from "./open-path.ts";
import type { Workspace } from "./paths.ts";

/** How the lines of a text end. `mixed`: some one way, some the other. */
export type LineEnds = "lf" | "crlf" | "mixed" | "none";

/** How a text is written in bytes. */
export interface TextForm {
  readonly encoding: Encoding;
  /** The byte-order mark, or nothing. */
  readonly mark: string;
}

/** The form of a new file. */
export const NEW_FILE: TextForm = { encoding: "utf-8", mark: "" };

/** A whole text file in memory, and what is needed to write it back as it was. */
export interface TextContent extends TextForm {
  /** From the root. */
  readonly path: string;
  /** Without the byte-order mark, line ends as they are. */
  readonly text: string;
  readonly lineEnds: LineEnds;
  readonly bytes: Buffer;
  /** What was read, to notice a change before writing. */
  readonly stats: Stats;
}

/** Files beyond this size, in bytes, are not changed as text. */
const MOST_BYTES = 64 * 1024 * 1024;

const MARK = "\ufeff";

/**
 * Reads a text file as a whole; `watch` is told of it. Throws a `WorkspaceError` when it is no text (`content`), or when its bytes
 * are not all text, as in Latin-1 (`encoding`): written back, such a file would lose some.
 */
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
  const text = decoded(bytes, form);
  if (text === undefined) {
    throw new WorkspaceError(
      "encoding",
      `${file.path} is not valid ${form.encoding.toUpperCase()}, perhaps because it has an older encoding such as Latin-1. Only UTF-8 and UTF-16 text can be changed, so that no byte is lost; a command can convert it first.`,
    );
  }
  watch?.()(text);
  return { path: file.path, text, ...textForm(form), lineEnds: lineEndsOf(text), bytes, stats: file.stats };
}

/** The text of a whole file without its byte-order mark; undefined when some bytes are none of its encoding. */
function decoded(bytes: Buffer, { encoding, mark }: FileForm & { readonly kind: "text" }): string | undefined {
  const text = bytes.subarray(mark);
  if (encoding === "utf-8") return isUtf8(text) ? text.toString("utf8") : undefined;
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(text);
  } catch {
    // Half a character, or an odd number of bytes.
    return undefined;
  }
}

/** How a file is written that begins in this way. */
export function textForm({ encoding, mark }: FileForm & { readonly kind: "text" }): TextForm {
  return { encoding, mark: mark === 0 ? "" : MARK };
}

/** Names the special form of a file, as `UTF-16LE with a byte-order mark`; nothing for plain UTF-8. */
export function formInWords({ encoding, mark }: TextForm): string | undefined {
  return mark === "" ? undefined : `${encoding.toUpperCase()} with a byte-order mark`;
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

/** The bytes of a text in the form of its file. Half a surrogate pair has no bytes, so a text with one is refused. */
export function encode(path: string, text: string, { encoding, mark }: TextForm): Buffer {
  if (!text.isWellFormed())
    throw new WorkspaceError(
      "content",
      `The new text for ${path} contains half a character (a lone surrogate). Send it whole.`,
    );
  const all = mark === "" ? text : mark + withoutMark(text);
  if (encoding === "utf-8") return Buffer.from(all, "utf8");
  const bytes = Buffer.from(all, "utf16le");
  return encoding === "utf-16le" ? bytes : bytes.swap16();
}

/** A text without the byte-order mark with which it begins, if it does. */
export function withoutMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}
