import type { EventBody } from "./event.ts";
import type { BroughtFile, FilePart, Message } from "./message.ts";
import { afterSummary } from "./tree/path.ts";

const MiB = 1024 * 1024;

/** Bytes of a picture that a call brings: more than that no provider takes, in base 64. */
const LARGEST_PICTURE = 3.75 * MiB;
/** Bytes of any other file that a call brings. */
export const LARGEST_FILE = 5 * MiB;
/** Bytes of all files of results that a model is shown at once: a request holds them all. */
const MOST_AT_ONCE = 20 * MiB;

/** Files that models look at as they are, by how they begin, as Latin-1. */
const MEDIA = [
  { mediaType: "image/png", what: "a PNG image", begins: /^\x89PNG\r\n/ },
  { mediaType: "image/jpeg", what: "a JPEG image", begins: /^\xFF\xD8\xFF/ },
  { mediaType: "image/gif", what: "a GIF image", begins: /^GIF8[79]a/ },
  { mediaType: "image/webp", what: "a WebP image", begins: /^RIFF....WEBP/s },
  { mediaType: "application/pdf", what: "a PDF document", begins: /^%PDF-/ },
] as const;

/** Bytes of the beginning of a file that tell what it is. */
export const TELLING_BYTES = 16;

/** What a file is that models look at as it is, by its first bytes; nothing for any other. */
export function mediaIn(bytes: Uint8Array): (typeof MEDIA)[number] | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, TELLING_BYTES));
  return MEDIA.find(({ begins }) => begins.test(head));
}

/** The bytes of what stands in base 64. */
export function sizeIn(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

/** Bytes of the files of results that a model is shown with a path. */
export function filesOn(path: readonly Message[]): number {
  const calls = afterSummary(path).flatMap((message) => (message.role === "assistant" ? message.calls : []));
  return calls.flatMap(({ files = [] }) => files).reduce((sum, { data = "" }) => sum + sizeIn(data), 0);
}

/**
 * A file that a call brings, by its bytes the kind that it says; or why it cannot be shown to a model, as the end of a
 * sentence. `before`: bytes of the files that the model is shown already.
 */
export function checkedFile({ mediaType, name, data = "" }: FilePart, before: number): FilePart | string {
  const size = sizeIn(data);
  const most = mediaType.startsWith("image/") ? LARGEST_PICTURE : LARGEST_FILE;
  if (size > most) return `it has ${mebibytes(size)}, and ${mebibytes(most)} is the most`;
  if (size === 0) return "it is empty";
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return "its bytes are no base 64";
  if (before + size > MOST_AT_ONCE) {
    return `with those before it there would be more than ${mebibytes(MOST_AT_ONCE)} of files at once`;
  }
  const bytes = Uint8Array.from(atob(data.slice(0, 2 * TELLING_BYTES)), (character) => character.charCodeAt(0));
  const media = mediaIn(bytes);
  const said = MEDIA.find((known) => known.mediaType === mediaType);
  if (said && !media) return `its name says ${said.what}, but its bytes are something else`;
  return { type: "file", mediaType: media?.mediaType ?? mediaType, ...(name !== undefined && { name }), data };
}

/**
 * The events that store the files which a call brought, and the files as its end names them, by the digests of their bytes. When
 * all are `known`, none is stored again: that would push others out of those that are kept.
 */
export function storedFiles(
  brought: readonly FilePart[],
  known: ReadonlyMap<string, string>,
  digestOf: (data: string) => string,
): {
  readonly stored: readonly EventBody[];
  readonly named: readonly Pick<BroughtFile, "mediaType" | "name" | "digest">[];
} {
  const files = brought.map(({ mediaType, name, data = "" }) => {
    const digest = digestOf(data);
    const store: EventBody = { type: "content.stored", digest, text: data, mediaType };
    return { store, named: { mediaType, ...(name !== undefined && { name }), digest } };
  });
  const isKnown = files.every(({ named }) => known.has(named.digest));
  return { stored: isKnown ? [] : files.map(({ store }) => store), named: files.map(({ named }) => named) };
}

function mebibytes(bytes: number): string {
  return `${Number((bytes / MiB).toFixed(2))} MiB`;
}
