import { basename, dirname } from "node:path/posix";
import picomatch from "picomatch";
import { WorkspaceError } from "./error.ts";
import { TOO_MANY_STARS } from "./git-ignore.ts";

/**
 * Returns a function that tests paths relative to the root. A glob without `/` matches file names, other globs match
 * paths. Without a glob, everything matches.
 */
export function compileGlob(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  if (glob === "" || TOO_MANY_STARS.test(glob)) {
    throw new WorkspaceError(
      "pattern",
      `The glob ${JSON.stringify(glob)} cannot be used. Use a pattern such as *.ts or src/**/*.md, with at most four stars in the name of a file or folder.`,
    );
  }
  const matches = picomatch(glob, { dot: true, noextglob: true });
  return glob.includes("/") ? (path) => matches(path) : (path) => matches(basename(path));
}

/** Returns the folder before the first `*` of a glob, relative to the root; undefined if there is none. */
export function folderOfGlob(glob: string | undefined): string | undefined {
  if (!glob?.includes("/") || glob.startsWith("!")) return undefined;
  const { base, isGlob } = picomatch.scan(glob);
  const folder = isGlob ? base : dirname(base);
  return folder === "" || folder === "." ? undefined : folder;
}
