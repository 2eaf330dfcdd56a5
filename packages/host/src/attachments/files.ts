import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { type FilePart, mediaIn, type TextPart } from "@banyan/core/conversation";
import { encloseInTags, errorMessage } from "@banyan/core/shown";
import {
  detectFileForm,
  JUDGED_BYTES,
  keyFileRefusal,
  type OpenRegularFile,
  openDirectory,
  openFileAt,
  WorkspaceError,
} from "@banyan/tools/workspace";
import type { AttachableFile } from "./named-file.ts";

/** The kind of an attachment. */
export type AttachmentKind = "text" | "image" | "PDF" | "folder" | "files" | "page" | "resource" | "diff";

/** A file's content for a message. */
export interface FileAttachment {
  readonly kind: AttachmentKind;
  readonly parts: readonly (TextPart | FilePart)[];
  readonly size: number;
}

const MOST_TEXT = 256 * 1024;
const MOST_MEDIA = 10 * 1024 * 1024;
const MOST_NAMES = 500;

/** Options for reading a file for a message. */
export interface AttachmentReadOptions {
  readonly redact: (text: string) => string;
  /** Patterns of files to read although they contain private keys (S22). */
  readonly keyFiles?: readonly string[] | undefined;
}

/**
 * Reads a file that a user named: text, an image, a PDF, or the names in a folder. If the file cannot be attached,
 * returns the reason. Opens the path without following links, after the check. A link that changes after the check
 * therefore has no effect.
 */
export async function readNamed(
  name: string,
  { workspace, location }: AttachableFile,
  reading: AttachmentReadOptions,
): Promise<FileAttachment | string> {
  try {
    if (location.kind === "directory") {
      await using directory = await openDirectory(workspace, location.real);
      return folderAttachment(name, await readdir(directory.at, { withFileTypes: true }));
    }
    await using file = await openFileAt(workspace, location);
    return attachableContent(name, await readStart(file), file.stats.size, reading);
  } catch (error) {
    if (error instanceof WorkspaceError && error.code === "kind")
      return `Can't attach ${name}: it is ${location.what}, not a file.`;
    return `Can't attach ${name}: ${errorMessage(error)}`;
  }
}

async function readStart({ handle, stats }: OpenRegularFile): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.min(stats.size, MOST_MEDIA));
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

function attachableContent(
  name: string,
  bytes: Buffer,
  size: number,
  { redact, keyFiles }: AttachmentReadOptions,
): FileAttachment | string {
  const refuse = (why: string) => `Can't attach ${name}: ${why}.`;
  const keyFile = keyFileRefusal(name, bytes.subarray(0, JUDGED_BYTES), keyFiles);
  if (keyFile !== undefined) return `Can't attach ${name}: ${keyFile}`;
  const media = mediaIn(bytes);
  if (media) {
    if (size > MOST_MEDIA) return refuse(`it has ${size} bytes, and the limit is ${MOST_MEDIA}`);
    const { mediaType } = media;
    const kind = mediaType.startsWith("image/") ? "image" : "PDF";
    return { kind, parts: [{ type: "file", mediaType, name, data: bytes.toString("base64") }], size };
  }
  if (size > MOST_TEXT)
    return refuse(
      `it has ${size} bytes, and the limit is ${MOST_TEXT}. Name the part that matters, or let the agent read it`,
    );
  const { text, encoding } = decodeAttachment(bytes) ?? {};
  if (text === undefined) return refuse("only text, images and PDF can be attached");
  const said = redact(text);
  return { kind: "text", parts: [attachedTextPart("file", name, said, encoding)], size: Buffer.byteLength(said) };
}

/** Folders come first. */
function folderAttachment(name: string, entries: readonly Dirent[]): FileAttachment {
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const shown = names.slice(0, MOST_NAMES);
  const more = names.length > shown.length ? [`(and ${names.length - shown.length} more)`] : [];
  const text = [...shown, ...more].join("\n");
  return { kind: "folder", parts: [attachedTextPart("folder", name, text)], size: Buffer.byteLength(text) };
}

/** Decodes UTF-8, or UTF-16 with a byte order mark, as the tool `read` does; undefined for a binary file. */
function decodeAttachment(bytes: Buffer): { readonly text: string; readonly encoding?: string } | undefined {
  const form = detectFileForm(bytes);
  if (form.kind === "binary") return undefined;
  try {
    // A later write compares the digest of this text (F78).
    const text = new TextDecoder(form.encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
    return form.encoding === "utf-8" ? { text } : { text, encoding: form.encoding };
  } catch {
    return undefined;
  }
}

/** Wraps a text in a tag with its kind and name, for the model. */
export function attachedTextPart(kind: string, name: string, text: string, encoding?: string): TextPart {
  const form = encoding === undefined ? "" : ` encoding="${encoding}"`;
  return { type: "text", text: encloseInTags(kind, text, ` name=${JSON.stringify(name)}${form}`) };
}
