import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";

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
  /** Its name changes with its content. */
  readonly forever: boolean;
  bytes(): Buffer;
}

/**
 * The files of the page, by their path in an address. Only what is there when the server starts is served, so that no
 * address reaches anything else.
 */
export function pageFiles(directory: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const entry of entriesOf(directory)) {
    const file = join(entry.parentPath, entry.name);
    const path = `/${relative(directory, file).split(sep).join("/")}`;
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    files.set(path, { type, forever: path.startsWith("/assets/"), bytes: () => readFileSync(file) });
  }
  return files;
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true });
  } catch {
    // The page was not built; whoever asks for it is told so.
    return [];
  }
}
