import { basename, dirname } from "node:path/posix";
import picomatch from "picomatch";
import { WorkspaceError } from "./error.ts";
import { TOO_MANY_STARS } from "./git-ignore.ts";

/**
 * Returns whether a file is among those that a glob means. Without `/` it is about the file's name, otherwise about its path
 * from the root. Everything matches when there is no glob.
 */
export function compileGlob(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  if (glob === "" || TOO_MANY_STARS.test(glob)) {
    throw new WorkspaceError(
      "pattern",
      `The glob ${JSON.stringify(glob)} cannot be used. Name files such as *.ts or src/**/*.md, with at most four stars in a name.`,
    );
  }
  const matches = picomatch(glob, { dot: true, noextglob: true });
  return glob.includes("/") ? (path) => matches(path) : (path) => matches(basename(path));
}

/** The folder that a glob names before its first `*`, as a path from the root; undefined if the glob names none. */
export function folderOfGlob(glob: string | undefined): string | undefined {
  if (!glob?.includes("/") || glob.startsWith("!")) return undefined;
  const { base, isGlob } = picomatch.scan(glob);
  const folder = isGlob ? base : dirname(base);
  return folder === "" || folder === "." ? undefined : folder;
}
