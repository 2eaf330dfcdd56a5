import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, parse, sep } from "node:path";

const MOST_LINKS = 40;

/**
 * Returns where an absolute path leads: links and `..` are followed part by part, as the system does. What does not exist is
 * taken as written. Returns undefined when there are too many links, or no file can have the name.
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
    // It cannot be looked at: whoever opens it goes by the name as it is, and meets the same error.
    return undefined;
  }
}

/** On file systems that ignore case, an existing path under its real name. */
function realCase(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // A path that does not exist has only the name that was written.
    return path;
  }
}
