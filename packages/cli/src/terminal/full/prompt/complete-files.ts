import { lstat } from "node:fs/promises";
import { dirname, join, matchesGlob } from "node:path/posix";
import { formatBytes, referenceTo } from "@banyan/client/words";
import { counted } from "@banyan/core/shown";
import { matchingFiles, type WorkspaceFiles } from "@banyan/host/workspace-files";
import { fuzzyFilter } from "@earendil-works/pi-tui/dist/fuzzy.js";
import { attachableAtEnd } from "../../../show/attachment-lines.ts";
import type { Completer, PromptSuggestion } from "./completion.ts";

const MOST = 20;
/** Maximum files whose sizes are summed. */
const MOST_SIZES = 2_000;

/**
 * Completes `@` to a file or folder of the workspace (T14). For a pattern such as `@src/*.ts`, shows the number and
 * size of the matching files. Tab also completes paths without `@`, and adds `@` before a URL or pattern (T15).
 */
export function completeFiles(files: WorkspaceFiles): Completer {
  return {
    async suggest({ text, isAsked, isFirst }, signal) {
      const sign = /^@"?/.exec(text)?.[0] ?? "";
      if (sign === "" && (!isAsked || (isFirst && text.startsWith("/")))) return undefined;
      const offered = attachableAtEnd(text);
      if (offered?.includes("://")) return [{ text: `@${offered}`, help: "attaches the page" }];
      const typed = offered ?? text.slice(sign.length).replace('/"', "/");
      const paths = await files.list();
      signal.throwIfAborted();
      if (offered !== undefined || (sign !== "" && /[*?{[]/.test(typed)))
        return [await matched(files.root, paths, typed)];
      const written = (path: string) => (sign === "" ? (/\s/.test(path) ? `"${path}"` : path) : referenceTo(path));
      const all = [...foldersAround(paths), ...paths];
      // After several words, suggest only paths with that beginning.
      const found = sign === "@" && /\s/.test(typed) ? begunWith(all, typed) : fuzzyFilter(all, typed, (path) => path);
      return found.slice(0, MOST).map((path) => ({ text: written(path), label: path }));
    },
  };
}

/** The paths that begin with the typed text, in which spaces may be escaped. */
function begunWith(paths: readonly string[], typed: string): readonly string[] {
  const wanted = typed.replaceAll(/\\(?=\s)/g, "").toLowerCase();
  return paths.filter((path) => path.toLowerCase().startsWith(wanted));
}

async function matched(root: string, paths: readonly string[], pattern: string): Promise<PromptSuggestion> {
  const listed = paths.filter((path) => matchesGlob(path, pattern));
  if (listed.length === 0) return suggestFilePattern(root, pattern);
  const sizes = await Promise.all(listed.slice(0, MOST_SIZES).map((path) => fileSize(join(root, path))));
  const size = formatBytes(sizes.reduce((sum, bytes) => sum + bytes, 0));
  const amount = listed.length > MOST_SIZES ? `more than ${size}` : size;
  return { text: `@${pattern}`, help: `${counted(listed.length, "file")}, ${amount}` };
}

/** A pattern without a listed file may match files that git ignores, which can be attached too. */
async function suggestFilePattern(root: string, pattern: string): Promise<PromptSuggestion> {
  const files = await matchingFiles(pattern, { folder: root });
  if (typeof files === "string") return { text: `@${pattern}`, help: files };
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return { text: `@${pattern}`, help: `${counted(files.length, "file")}, ${formatBytes(bytes)}` };
}

async function fileSize(path: string): Promise<number> {
  return lstat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

function foldersAround(paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); folder !== "." && !folders.has(`${folder}/`); folder = dirname(folder))
      folders.add(`${folder}/`);
  }
  return folders;
}
