import { isUtf8 } from "node:buffer";
import type { Stats } from "node:fs";
import { TextDecoder } from "node:util";
import { WorkspaceError } from "./error.ts";
import { detectFileForm, type Encoding, type FileForm, SNIFFED_BYTES } from "./file-text.ts";
import type { KeyWatch } from "./key-file.ts";
import { openFile } from "./open-path.ts";
import type { Workspace } from "./paths.ts";

/** The line ends of a text. `mixed`: both kinds. */
export type LineEnds = "lf" | "crlf" | "mixed" | "none";

/** The encoding of a text file. */
export interface TextForm {
  readonly encoding: Encoding;
  /** The byte-order mark; empty if none. */
  readonly mark: string;
}

/** The encoding of a new file: UTF-8 without a byte-order mark. */
export const NEW_FILE: TextForm = { encoding: "utf-8", mark: "" };

/** A text file in memory, with the facts for writing it back unchanged. */
export interface TextContent extends TextForm {
  readonly path: string;
  /** The text without the byte-order mark, with the original line ends. */
  readonly text: string;
  readonly lineEnds: LineEnds;
  readonly bytes: Buffer;
  /** The file's stats at the time of reading, by which a later change is noticed before writing. */
  readonly stats: Stats;
}

/** The largest file to change as text, in bytes. */
const MOST_BYTES = 64 * 1024 * 1024;

const MARK = "\ufeff";

/**
 * Reads a whole text file and passes its text to `watch`. Throws a `WorkspaceError` if the file is not text
 * (`content`), or if some bytes are invalid in its encoding, as in Latin-1 (`encoding`): a rewrite would lose them.
 */
export async function readText(workspace: Workspace, named: string, watch?: KeyWatch): Promise<TextContent> {
  await using file = await openFile(workspace, named);
  if (file.stats.size > MOST_BYTES) {
    throw new WorkspaceError(
      "content",
      `${file.path} is too large to be changed as text: ${file.stats.size} bytes, more than ${MOST_BYTES}.`,
    );
  }
  const bytes = await file.handle.readFile();
  const form = detectFileForm(bytes.subarray(0, SNIFFED_BYTES));
  if (form.kind === "binary")
    throw new WorkspaceError(
      "content",
      `${file.path} is ${form.what}, ${bytes.length} bytes; only text can be changed.`,
    );
  const text = decodeWholeFile(bytes, form);
  if (text === undefined) {
    throw new WorkspaceError(
      "encoding",
      `${file.path} is not valid ${form.encoding.toUpperCase()}, perhaps because it has an older encoding such as Latin-1. Only UTF-8 and UTF-16 text can be changed, so that no byte is lost; a command can convert it first.`,
    );
  }
  watch?.()(text);
  return { path: file.path, text, ...textForm(form), lineEnds: lineEndsOf(text), bytes, stats: file.stats };
}

/** Decodes a file without its byte-order mark; undefined if some bytes are invalid. */
function decodeWholeFile(bytes: Buffer, { encoding, mark }: FileForm & { readonly kind: "text" }): string | undefined {
  const text = bytes.subarray(mark);
  if (encoding === "utf-8") return isUtf8(text) ? text.toString("utf8") : undefined;
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(text);
  } catch {
    // Half a character, or an odd number of bytes.
    return undefined;
  }
}

/** Returns the encoding of a text file from its detected kind. */
export function textForm({ encoding, mark }: FileForm & { readonly kind: "text" }): TextForm {
  return { encoding, mark: mark === 0 ? "" : MARK };
}

/** Describes an encoding, such as `UTF-16LE with a byte-order mark`; undefined for plain UTF-8. */
export function formInWords({ encoding, mark }: TextForm): string | undefined {
  return mark === "" ? undefined : `${encoding.toUpperCase()} with a byte-order mark`;
}

/** Returns the kind of line ends in a text. A lone carriage return is no line end. */
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

/** Counts the lines of a text. A final line end starts no further line. */
export function countLines(text: string): number {
  if (text === "") return 0;
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** Returns the line number of a place in a text, from 1. */
export function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < place; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** Returns a number of lines in words: `1 line`, `2 lines`. */
export function linesInWords(lines: number): string {
  return lines === 1 ? "1 line" : `${lines} lines`;
}

/** Encodes a text. Throws if the text has a lone surrogate, which has no bytes. */
export function encodeText(path: string, text: string, { encoding, mark }: TextForm): Buffer {
  if (!text.isWellFormed())
    throw new WorkspaceError(
      "content",
      `The new text for ${path} contains half a character (a lone surrogate). Send the whole character.`,
    );
  const all = mark === "" ? text : mark + withoutMark(text);
  if (encoding === "utf-8") return Buffer.from(all, "utf8");
  const bytes = Buffer.from(all, "utf16le");
  return encoding === "utf-16le" ? bytes : bytes.swap16();
}

export function withoutMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}
