import { readdir } from "node:fs/promises";
import type { FilePart, TextPart } from "@banyan/core";
import { readFileStart } from "../read-file.ts";

/** What something is that goes along with a message. */
export type AttachmentKind = "text" | "image" | "PDF" | "folder" | "files" | "page" | "resource";

/** What is read for a message. */
export interface FileAttachment {
  readonly kind: AttachmentKind;
  readonly parts: readonly (TextPart | FilePart)[];
  readonly size: number;
}

const MOST_TEXT = 256 * 1024;
const MOST_MEDIA = 10 * 1024 * 1024;
const MOST_NAMES = 500;

/** Files that models look at as they are, by how they begin. */
const MEDIA = [
  { mediaType: "image/png", kind: "image", begins: /^\x89PNG\r\n/ },
  { mediaType: "image/jpeg", kind: "image", begins: /^\xFF\xD8\xFF/ },
  { mediaType: "image/gif", kind: "image", begins: /^GIF8[79]a/ },
  { mediaType: "image/webp", kind: "image", begins: /^RIFF....WEBP/s },
  { mediaType: "application/pdf", kind: "PDF", begins: /^%PDF-/ },
] as const;

/** Reads a file that a person names: text, an image or a PDF. Answers why, when it cannot go along. */
export function readForMessage(name: string, path: string, redact: (text: string) => string): FileAttachment | string {
  const refuse = (why: string) => `${name} does not go along: ${why}.`;
  const content = readFileStart(path, MOST_MEDIA);
  if (content.state === "absent") return refuse("there is no such file");
  if (content.state === "unreadable") return refuse(content.problem);
  const { bytes, size } = content;
  const head = bytes.subarray(0, 16).toString("latin1");
  const media = MEDIA.find(({ begins }) => begins.test(head));
  if (media) {
    if (size > MOST_MEDIA) return refuse(`it has ${size} bytes, and ${MOST_MEDIA} is the most`);
    const { kind, mediaType } = media;
    return { kind, parts: [{ type: "file", mediaType, name, data: bytes.toString("base64") }], size };
  }
  if (size > MOST_TEXT)
    return refuse(
      `it has ${size} bytes, and ${MOST_TEXT} is the most; name the part that matters, or let the agent read it`,
    );
  const text = textOf(bytes);
  if (text === undefined) return refuse("it is neither text nor an image nor a PDF");
  const said = redact(text);
  return { kind: "text", parts: [named("file", name, said)], size: Buffer.byteLength(said) };
}

/** The names in a folder, folders first. */
export async function readFolder(name: string, path: string): Promise<FileAttachment | string> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
    const shown = names.slice(0, MOST_NAMES);
    const more = names.length > shown.length ? [`(and ${names.length - shown.length} more)`] : [];
    const text = [...shown, ...more].join("\n");
    return { kind: "folder", parts: [named("folder", name, text)], size: Buffer.byteLength(text) };
  } catch (error) {
    return `${name} does not go along: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

/** The text of a file; nothing for one that is none. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Other encodings cannot be told from binary files.
    return undefined;
  }
}

/** A text with what it is, as the model sees it. */
export function named(kind: string, name: string, text: string): TextPart {
  return { type: "text", text: `<${kind} name=${JSON.stringify(name)}>\n${text}\n</${kind}>` };
}
