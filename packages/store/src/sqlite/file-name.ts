import { createHash } from "node:crypto";
import { join } from "node:path";

/** Ids that are file names as they stand. Those that Banyan makes are, so the files of all its versions are found. */
const PLAIN = /^[0-9a-z]{10,40}$/;

/** Characters of an id that is written into its file's name; what is beside the file has up to 60 more (255 bytes at most). */
const LONGEST = 160;

/**
 * The name, without what stands behind the dot, of the files of a conversation: another one for each id, also where
 * capitals count for nothing, or where accents are taken apart, and none that a system keeps for itself.
 *
 * | the id | the name |
 * |---|---|
 * | 10 to 40 lower-case letters and digits | the same |
 * | any other | `_` and the id; each byte of its UTF-8 that is no lower-case letter, digit or `-` as `_` and two hexadecimal digits |
 * | one that would be longer than 160 characters so | `sha256-` and that of its UTF-8 in hexadecimal: its log says which id it is |
 */
export function fileNameOf(id: string): string {
  if (PLAIN.test(id)) return id;
  const written = `_${Array.from(Buffer.from(id), writtenByte).join("")}`;
  return written.length <= LONGEST ? written : `sha256-${createHash("sha256").update(id).digest("hex")}`;
}

function writtenByte(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[0-9a-z-]/.test(character) ? character : `_${byte.toString(16).padStart(2, "0")}`;
}

/** The file with the log of a conversation, below a store's directory. */
export function conversationFile(directory: string, id: string): string {
  return join(directory, "conversations", `${fileNameOf(id)}.sqlite`);
}

/**
 * The id that a file's name is made from, `undefined` for one that only the log in it says. Nothing for a name that
 * `fileNameOf` makes of no id.
 */
export function idIn(name: string): { readonly id: string | undefined } | undefined {
  if (/^sha256-[0-9a-f]{64}$/.test(name)) return { id: undefined };
  const bytes = name.slice(1).replaceAll(/_([0-9a-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const id = PLAIN.test(name) ? name : Buffer.from(bytes, "latin1").toString();
  return fileNameOf(id) === name ? { id } : undefined;
}
