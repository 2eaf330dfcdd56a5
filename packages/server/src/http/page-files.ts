import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

/** A file of the page. */
export interface PageFile {
  readonly type: string;
  /** True if the file name changes with the content, so that browsers may cache the file for good. */
  readonly forever: boolean;
  /** The encodings that make the file smaller, the best first. */
  readonly codings: readonly ContentCoding[];
  bytes(): Buffer;
  /** The file in one encoding: encoded at the first request, then cached. */
  coded(coding: ContentCoding): Promise<Uint8Array<ArrayBuffer>>;
}

type ContentCoding = keyof typeof CODERS;

/** This level saves nearly as much as the highest, in a few milliseconds. */
const LEVEL = 6;

const CODERS = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: LEVEL } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: LEVEL }),
};
const CODINGS = ["br", "gzip"] as const;

const IS_PACKED = /^(image\/(?!svg)|font\/)/;

/** Returns the files of the page by their URL path. Only these files are served, so that no path reaches another file. */
export function pageFiles(directory: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const entry of directoryEntries(directory)) {
    const file = join(entry.parentPath, entry.name);
    const path = `/${relative(directory, file).split(sep).join("/")}`;
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const forever = path.startsWith("/assets/");
    const bytes = () => readFileSync(file);
    const codings = forever && !IS_PACKED.test(type) ? CODINGS : [];
    files.set(path, { type, forever, codings, bytes, coded: coder(bytes) });
  }
  return files;
}

function coder(bytes: () => Buffer): PageFile["coded"] {
  const made = new Map<ContentCoding, Promise<Uint8Array<ArrayBuffer>>>();
  return (coding) => {
    const coded = made.get(coding) ?? CODERS[coding](bytes()).then((all) => new Uint8Array(all));
    made.set(coding, coded);
    return coded;
  };
}

function directoryEntries(directory: string) {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true });
  } catch {
    // The page was not built: a request for it gets an error.
    return [];
  }
}
