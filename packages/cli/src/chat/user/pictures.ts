import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { homedir } from "node:os";
import { basename, isAbsolute } from "node:path";
import type { UserPart } from "@banyan/core";
import { mediaIn } from "@banyan/core/conversation";
import { formatBytes, visibleLine } from "@banyan/core/shown";
import { LARGEST_FILES } from "@banyan/protocol";
import { meantPath } from "@banyan/tools/named-path";
import { UsageError } from "../../problem.ts";
import { type ClipboardPlace, readPicture } from "../../terminal/clipboard.ts";
import type { Pasted, PictureSource } from "../../terminal/full/live-terminal.ts";

type FilePart = Extract<UserPart, { type: "file" }>;

/** Bytes of all pictures that are kept for a message that may come: the oldest ones go first. */
const KEPT = 8 * LARGEST_FILES;
/** Characters of a name in a mark. */
const LONGEST_NAME = 60;
const MARK = /\[image: ([^\]\n]+)\]/g;
/** How files are named that say of themselves that they are pictures. */
const NAMED_SO = /\.(png|jpe?g|gif|webp|bmp|tiff?|heic|svg)$/i;

/**
 * The pictures that a person puts into messages (T50): in the text each is a mark, `[image: name]`, so that it can be moved,
 * deleted and sent as any word; its bytes are kept here, and go along with a message in which its mark stands.
 */
export class Pictures implements PictureSource {
  readonly #place: ClipboardPlace;
  /** By what stands in their marks, the oldest first. */
  readonly #known = new Map<string, FilePart>();

  constructor(place: ClipboardPlace) {
    this.#place = place;
  }

  /** Reads files that are named by nothing but their paths, as a terminal pastes what is dropped onto it. */
  pasted(text: string): Pasted {
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

  /** Resolves with the mark of the picture in the clipboard. Rejects with a sentence where there is none. */
  async fromClipboard(): Promise<string> {
    const bytes = await readPicture(this.#place);
    if (bytes === undefined) throw new UsageError("There is no picture in your clipboard.");
    const part = pictureOf("clipboard", bytes);
    if (typeof part === "string") throw new UsageError(part);
    return `${this.#mark(part)} `;
  }

  /** What a message was made of may be said again, in other words. */
  keep(parts: readonly UserPart[]): void {
    for (const part of parts) if (part.type === "file" && part.name !== undefined) this.#known.set(part.name, part);
  }

  /**
   * A text as a message, with the pictures whose marks stand in it; and the marks of which no picture is known. Throws a
   * `UsageError` when they are too much for one message.
   */
  written(text: string): { readonly parts: readonly UserPart[]; readonly unknown: readonly string[] } {
    const names = [...new Set(Array.from(text.matchAll(MARK), ([, name = ""]) => name))];
    const files = names.flatMap((name) => this.#known.get(name) ?? []);
    const size = files.reduce((sum, { data = "" }) => sum + bytesIn(data), 0);
    if (size > LARGEST_FILES)
      throw new UsageError(
        `The pictures of a message have at most ${formatBytes(LARGEST_FILES)} together; these have ${formatBytes(size)}.`,
      );
    return { parts: [{ type: "text", text }, ...files], unknown: names.filter((name) => !this.#known.has(name)) };
  }

  #mark(part: FilePart): string {
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

/** Bytes as what goes along with a message; a sentence where they are no picture, or too large a one. */
function pictureOf(name: string, bytes: Buffer): FilePart | string {
  const media = mediaIn(bytes);
  if (!media?.mediaType.startsWith("image/")) return notOne(name);
  const ofMark = Array.from(visibleLine(name).replaceAll(/[[\]]/g, "_")).slice(0, LONGEST_NAME).join("");
  return { type: "file", mediaType: media.mediaType, name: ofMark, data: bytes.toString("base64") };
}

/** Bytes by which a picture is known. */
const HEAD = 16;

/** The picture in a file; a sentence where its name says that it is one and it is none; nothing where nobody says so. */
function pictureAt(path: string): FilePart | string | undefined {
  const name = basename(path);
  let file: number | undefined;
  try {
    // A pipe would keep whoever opens it waiting.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile()) return undefined;
    const head = bytesOf(file, HEAD);
    if (mediaIn(head)?.mediaType.startsWith("image/") !== true) return NAMED_SO.test(name) ? notOne(name) : undefined;
    if (stats.size > LARGEST_FILES)
      return `Can't attach ${visibleLine(name)}: it has ${formatBytes(stats.size)}, and the limit is ${formatBytes(LARGEST_FILES)}.`;
    return pictureOf(name, bytesOf(file, stats.size));
  } catch {
    // What cannot be read stays the text that it was.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The first bytes of a file. */
function bytesOf(file: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  return bytes.subarray(0, readSync(file, bytes, 0, size, 0));
}

function notOne(name: string): string {
  return `${visibleLine(name)} is no picture that a model can look at: its bytes are not those of a PNG, JPEG, GIF or WebP.`;
}

/** A word of a shell: in quotes, or with a backslash before what would be something else. No-break spaces part no words. */
const WORD = /[ \t\r\n]*((?:'[^']*'|"[^"]*"|\\.|[^ \t\r\n\\'"])+)[ \t\r\n]*/gy;

/**
 * A text as the paths of which it consists alone, quoted or escaped as terminals do it, or as addresses of files; nothing
 * when it is anything else, which its first word mostly tells.
 */
function pathsIn(text: string): { readonly word: string; readonly path: string }[] {
  const whole = pathOf(text);
  // Some terminals quote nothing.
  if (whole !== undefined && existsSync(whole)) return [{ word: text, path: whole }];
  const paths: { word: string; path: string }[] = [];
  let end = 0;
  for (const { 0: all, 1: word = "", index } of text.matchAll(WORD)) {
    const path = pathOf(unquoted(word));
    if (path === undefined) return [];
    paths.push({ word, path });
    end = index + all.length;
  }
  return end === text.length ? paths : [];
}

function unquoted(word: string): string {
  // There, a backslash stands between folders.
  if (process.platform === "win32") return word.replaceAll(/^["']|["']$/g, "");
  return word.replaceAll(/'([^']*)'|"([^"]*)"|\\(.)/g, (_, single, double, escaped) => single ?? double ?? escaped);
}

/** The path that a word is; nothing for one that does not begin at a root, so that words of a text are none. */
function pathOf(word: string): string | undefined {
  if (word.includes("\n")) return undefined;
  try {
    const path = meantPath(word, { root: "/", home: homedir() });
    return isAbsolute(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
