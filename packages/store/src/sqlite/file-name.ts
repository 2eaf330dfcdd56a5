import { createHash } from "node:crypto";
import { join } from "node:path";
import { checkArguments } from "@banyan/core/conversation";

/** Ids that are file names without change. Banyan creates only such ids. */
const PLAIN = /^[0-9a-z]{10,40}$/;

/** Maximum characters of an id in a file name. Additional files add up to 60; systems allow 255 bytes. */
const LONGEST = 160;

/**
 * Returns the file name of a conversation without extension. Different ids have different names, even if the file
 * system ignores case or decomposes accents. No name is reserved by a system.
 *
 * | id | name |
 * |---|---|
 * | 10 to 40 lower-case letters and digits | the same |
 * | any other | `_` and the id; each byte of its UTF-8 except lower-case letters, digits and `-` as `_` and two hexadecimal digits |
 * | longer than 160 characters in this form | `sha256-` and the hash of its UTF-8 in hexadecimal; the log contains the id |
 */
export function conversationFileName(id: string): string {
  if (PLAIN.test(id)) return id;
  const written = `_${Array.from(Buffer.from(id), writtenByte).join("")}`;
  return written.length <= LONGEST ? written : `sha256-${createHash("sha256").update(id).digest("hex")}`;
}

function writtenByte(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[0-9a-z-]/.test(character) ? character : `_${byte.toString(16).padStart(2, "0")}`;
}

/**
 * Returns the path of a conversation's log in a store's directory.
 * @example console.log(conversationFile("conversations", "order-7"));
 */
export function conversationFile(directory: string, id: string): string {
  checkArguments("conversationFile", { directory, id }, { directory: "string", id: "string" });
  return join(directory, "conversations", `${conversationFileName(id)}.sqlite`);
}

/** Returns the id in a file name (`undefined` if only the log has the id), or `undefined` for any other name. */
export function idIn(name: string): { readonly id: string | undefined } | undefined {
  if (/^sha256-[0-9a-f]{64}$/.test(name)) return { id: undefined };
  const bytes = name.slice(1).replaceAll(/_([0-9a-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const id = PLAIN.test(name) ? name : Buffer.from(bytes, "latin1").toString();
  return conversationFileName(id) === name ? { id } : undefined;
}
