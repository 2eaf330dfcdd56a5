import type { EventBody } from "./event.ts";
import type { BroughtFile, FilePart } from "./part.ts";

const MiB = 1024 * 1024;

/** Larger images exceed the limit of every provider in base 64. */
const LARGEST_PICTURE = 3.75 * MiB;

/**
 * Maximum bytes of a file in a call's result, except images.
 * @example base64Size("AAAA") <= LARGEST_FILE // true
 */
export const LARGEST_FILE = 5 * MiB;

/** Maximum bytes of all files in visible results, since each request contains them all. */
const MOST_AT_ONCE = 20 * MiB;

/** File formats that models read directly, by their first bytes as Latin-1. */
const MEDIA = [
  { mediaType: "image/png", what: "a PNG image", begins: /^\x89PNG\r\n/ },
  { mediaType: "image/jpeg", what: "a JPEG image", begins: /^\xFF\xD8\xFF/ },
  { mediaType: "image/gif", what: "a GIF image", begins: /^GIF8[79]a/ },
  { mediaType: "image/webp", what: "a WebP image", begins: /^RIFF....WEBP/s },
  { mediaType: "application/pdf", what: "a PDF document", begins: /^%PDF-/ },
] as const;

/**
 * Number of bytes at the beginning of a file that identify its format.
 * @example mediaIn(new Uint8Array(TELLING_BYTES)) // undefined
 */
export const TELLING_BYTES = 16;

/**
 * Returns the format that a file's first bytes show, if models can read this format directly.
 * @example mediaIn(new TextEncoder().encode("%PDF-1.7"))?.mediaType // "application/pdf"
 */
export function mediaIn(bytes: Uint8Array): (typeof MEDIA)[number] | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, TELLING_BYTES));
  return MEDIA.find(({ begins }) => begins.test(head));
}

/**
 * Returns the number of bytes that a base 64 text encodes.
 * @example base64Size("SGk=") // 2
 */
export function base64Size(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

/**
 * Checks a file of a call's result, and corrects its media type by its bytes. If a model cannot see the file, returns
 * the reason as the end of a sentence. `before`: number of bytes of the files that the model already sees.
 * @example checkBroughtFile({ type: "file", mediaType: "application/pdf", data: btoa("%PDF-1.7 ...") }, 0)
 */
export function checkBroughtFile({ mediaType, name, data = "" }: FilePart, before: number): FilePart | string {
  const size = base64Size(data);
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
 * Returns the events that store the files of a call, and the files as the result's event lists them. If all files are
 * `known`, stores nothing, because a second copy would push out other files.
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
