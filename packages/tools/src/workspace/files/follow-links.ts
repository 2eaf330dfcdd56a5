import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, parse, sep } from "node:path";

const MOST_LINKS = 40;

/**
 * Returns the target of an absolute path. Links and `..` are followed part by part, as the system does. Missing parts
 * are taken literally. Undefined after too many links, or for an impossible name.
 * @example const target = followLinks("/work/link/a.txt");
 */
export function followLinks(path: string): string | undefined {
  if (path.includes("\0")) return undefined;
  const start = parse(path).root;
  const ahead = path.slice(start.length).split(sep);
  let at = start;
  let links = 0;
  for (let part = ahead.shift(); part !== undefined; part = ahead.shift()) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      at = dirname(at);
      continue;
    }
    const next = join(at, part);
    const target = linkTarget(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) return undefined;
    if (isAbsolute(target)) at = parse(target).root;
    ahead.unshift(...target.split(sep));
  }
  return realCase(at);
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    // The path is unreadable: opening the path literally meets the same error.
    return undefined;
  }
}

/** Returns the real name of an existing path on file systems that ignore case. */
function realCase(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // A missing path has no other name.
    return path;
  }
}
