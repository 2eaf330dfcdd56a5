import { glob, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, isAbsolute, resolve } from "node:path";
import { expandHome } from "@banyan/tools/named-path";
import type { FileReach } from "./named-file.ts";

/** Maximum files of a pattern, and maximum bytes of them together. */
const MOST_FILES = 50;
const MOST_BYTES = 512 * 1024;

/** Returns whether a name is a pattern of several files, such as `src/*.ts`. */
export function isFilePattern(name: string): boolean {
  return /[*?[\]{}]/.test(expandHome(name, ""));
}

/** A file that matches a pattern. */
export interface MatchingFile {
  readonly name: string;
  readonly path: string;
  readonly size: number;
}

/** Folders that a pattern includes only by name. */
const LEFT_OUT = ["node_modules", ".git"];

/** Returns the files in a folder that match a pattern. Returns the reason if no file or too many files match. */
export async function matchingFiles(
  written: string,
  { folder, outside = false }: Pick<FileReach, "folder" | "outside">,
): Promise<MatchingFile[] | string> {
  const pattern = expandHome(written, homedir());
  if (!outside && (isAbsolute(pattern) || /(^|[/\\])\.\.([/\\]|$)/.test(pattern)))
    return `Can't attach ${pattern}: a message to a server can name only files in the workspace.`;
  const files: MatchingFile[] = [];
  let bytes = 0;
  const named = pattern.split(/[/\\]/);
  const leftOut = LEFT_OUT.filter((folder) => !named.includes(folder));
  const exclude = (name: string) => leftOut.includes(basename(name));
  for await (const name of glob(pattern, { cwd: folder, exclude })) {
    const path = resolve(folder, name);
    const stats = await stat(path).catch(() => undefined);
    if (!stats?.isFile()) continue;
    files.push({ name, path, size: stats.size });
    bytes += stats.size;
    if (files.length > MOST_FILES) return `Can't attach ${pattern}: it matches more than ${MOST_FILES} files.`;
    if (bytes > MOST_BYTES)
      return `Can't attach ${pattern}: its files have more than ${MOST_BYTES / 1024} KiB in total.`;
  }
  if (files.length === 0) {
    const beside = leftOut.length > 0 ? ` outside of ${leftOut.join(" and ")}` : "";
    return `Can't attach ${pattern}: it matches no file${beside}.`;
  }
  return files.sort((a, b) => a.name.localeCompare(b.name));
}
