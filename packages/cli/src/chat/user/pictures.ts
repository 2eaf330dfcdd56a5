import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { homedir } from "node:os";
import { basename, isAbsolute } from "node:path";
import { formatBytes } from "@banyan/client/words";
import type { UserPart } from "@banyan/core";
import { mediaIn } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import { LARGEST_FILES } from "@banyan/protocol";
import { meantPath } from "@banyan/tools/named-path";
import { UsageError } from "../../program/problem.ts";
import type { PasteResult, PictureSource } from "../../terminal/contract/live-terminal.ts";
import { type ClipboardContext, readClipboardPicture } from "../../terminal/questions/clipboard.ts";

type UserFilePart = Extract<UserPart, { type: "file" }>;

/** Bytes of all images kept for later messages. The oldest are dropped first. */
const KEPT = 8 * LARGEST_FILES;
const LONGEST_NAME = 60;
const MARK = /\[image: ([^\]\n]+)\]/g;
const NAMED_SO = /\.(png|jpe?g|gif|webp|bmp|tiff?|heic|svg)$/i;

/**
 * Images for messages (T50). The text contains a mark for each image, `[image: name]`, which the user can move and
 * delete like a word. This object keeps the bytes. A message is sent with the bytes of all images whose marks it
 * contains.
 */
export class Pictures implements PictureSource {
  readonly #context: ClipboardContext;
  /** Images by the name in their mark, the oldest first. */
  readonly #known = new Map<string, UserFilePart>();

  constructor(context: ClipboardContext) {
    this.#context = context;
  }

  /** Replaces image paths by marks, if a pasted text consists of paths only, as a terminal pastes dropped files. */
  pasted(text: string): PasteResult {
    const paths = pathsIn(text.trim());
    let problem: string | undefined;
    let found = 0;
    const words = paths.map(({ word, path }) => {
      const read = pictureAt(path);
      if (read === undefined) return word;
      if (typeof read === "string") {
        problem ??= read;
        return word;
      }
      found++;
      return this.#mark(read);
    });
    return { text: found > 0 ? `${words.join(" ")} ` : text, ...(problem !== undefined && { problem }) };
  }

  /** Resolves with the mark of the clipboard's image. Rejects with a `UsageError` if there is none. */
  async fromClipboard(): Promise<string> {
    const bytes = await readClipboardPicture(this.#context);
    if (bytes === undefined) throw new UsageError("There is no picture in your clipboard.");
    const part = picturePart("clipboard", bytes);
    if (typeof part === "string") throw new UsageError(part);
    return `${this.#mark(part)} `;
  }

  /** Keeps the images of a message that may be sent again in other words. */
  keep(parts: readonly UserPart[]): void {
    for (const part of parts) if (part.type === "file" && part.name !== undefined) this.#known.set(part.name, part);
  }

  /** Returns text and images as message parts, and the marks without an image. Throws a `UsageError` if too large. */
  written(text: string): { readonly parts: readonly UserPart[]; readonly unknown: readonly string[] } {
    const names = [...new Set(Array.from(text.matchAll(MARK), ([, name = ""]) => name))];
    const files = names.flatMap((name) => this.#known.get(name) ?? []);
    const size = files.reduce((sum, { data = "" }) => sum + bytesIn(data), 0);
    if (size > LARGEST_FILES)
      throw new UsageError(
        `The pictures of one message can have at most ${formatBytes(LARGEST_FILES)}. These pictures have ${formatBytes(size)} in total.`,
      );
    return { parts: [{ type: "text", text }, ...files], unknown: names.filter((name) => !this.#known.has(name)) };
  }

  #mark(part: UserFilePart): string {
    const whole = part.name ?? "";
    let name = whole;
    for (let count = 2; this.#known.has(name) && this.#known.get(name)?.data !== part.data; count++)
      name = `${whole} ${count}`;
    this.#known.set(name, { ...part, name });
    let size = 0;
    for (const [other, { data = "" }] of [...this.#known].reverse()) {
      size += bytesIn(data);
      if (size > KEPT) this.#known.delete(other);
    }
    return `[image: ${name}]`;
  }
}

function bytesIn(base64: string): number {
  return Buffer.byteLength(base64, "base64");
}

/** Returns bytes as a message part, or a sentence if they are not an image or the image is too large. */
function picturePart(name: string, bytes: Buffer): UserFilePart | string {
  const media = mediaIn(bytes);
  if (!media?.mediaType.startsWith("image/")) return notOne(name);
  const ofMark = Array.from(visibleLine(name).replaceAll(/[[\]]/g, "_")).slice(0, LONGEST_NAME).join("");
  return { type: "file", mediaType: media.mediaType, name: ofMark, data: bytes.toString("base64") };
}

const HEAD = 16;

/** Returns the image in a file, a sentence for a broken or large image, or undefined for other files. */
function pictureAt(path: string): UserFilePart | string | undefined {
  const name = basename(path);
  let file: number | undefined;
  try {
    // Opening a pipe could block for ever.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile()) return undefined;
    const head = readPictureBytes(file, HEAD);
    if (mediaIn(head)?.mediaType.startsWith("image/") !== true) return NAMED_SO.test(name) ? notOne(name) : undefined;
    if (stats.size > LARGEST_FILES)
      return `Can't attach ${visibleLine(name)}: the file has ${formatBytes(stats.size)}, and the limit is ${formatBytes(LARGEST_FILES)}.`;
    return picturePart(name, readPictureBytes(file, stats.size));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readPictureBytes(file: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  return bytes.subarray(0, readSync(file, bytes, 0, size, 0));
}

function notOne(name: string): string {
  return `${visibleLine(name)} is not a PNG, JPEG, GIF or WebP image.`;
}

/** A shell word: quoted, or with escaped special characters. No-break spaces do not separate words. */
const WORD = /[ \t\r\n]*((?:'[^']*'|"[^"]*"|\\.|[^ \t\r\n\\'"])+)[ \t\r\n]*/gy;

/** Splits a text into paths: quoted, escaped, or as file URLs. Returns none if the text contains anything else. */
function pathsIn(text: string): { readonly word: string; readonly path: string }[] {
  const whole = absolutePathIn(text);
  // Some terminals do not quote.
  if (whole !== undefined && existsSync(whole)) return [{ word: text, path: whole }];
  const paths: { word: string; path: string }[] = [];
  let end = 0;
  for (const { 0: all, 1: word = "", index } of text.matchAll(WORD)) {
    const path = absolutePathIn(unquotedPastedPath(word));
    if (path === undefined) return [];
    paths.push({ word, path });
    end = index + all.length;
  }
  return end === text.length ? paths : [];
}

function unquotedPastedPath(word: string): string {
  // On Windows a backslash separates folders.
  if (process.platform === "win32") return word.replaceAll(/^["']|["']$/g, "");
  return word.replaceAll(/'([^']*)'|"([^"]*)"|\\(.)/g, (_, single, double, escaped) => single ?? double ?? escaped);
}

/** Returns the absolute path in a pasted word. Returns undefined for a relative path, because an ordinary word could be one. */
function absolutePathIn(word: string): string | undefined {
  if (word.includes("\n")) return undefined;
  try {
    const path = meantPath(word, { root: "/", home: homedir() });
    return isAbsolute(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
