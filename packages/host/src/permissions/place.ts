import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { expandHome, foldedName, meantPath } from "@banyan/tools/named-path";
import { followLinks, WorkspaceError } from "@banyan/tools/workspace";
import picomatch from "picomatch";

/** The folder that paths are judged against, fixed when the conversation starts. */
export interface PathScope {
  /** As it was named; absolute. */
  readonly root: string;
  /** With its links followed. */
  readonly realRoot: string;
  readonly home: string;
  /** A copy of the folder, without links: a path that lies there is judged as the same path of the folder. */
  readonly copy?: string | undefined;
}

/** Where a path leads. */
export interface Place {
  /** Absolute: the path as written, and as the system resolves it, links and `..` followed part by part. */
  readonly forms: readonly string[];
  /** Whether every form lies in the workspace. */
  readonly inside: boolean;
}

/** The folder that paths are judged against: `workspace`, its links followed now, and `home`, which `~` stands for. All are absolute. */
export function pathScope(workspace: string, home: string, copy?: string): PathScope {
  const root = resolve(workspace);
  return { root, realRoot: followLinks(root) ?? root, home, copy };
}

/**
 * Resolves a path, relative ones from the workspace. A path that does not exist yet is no error: its rest is taken as written. The
 * place has the forms of the path that the text means (S35), and of the text taken literally: a tool that somebody else offers
 * may do either. Both are the same for our own tools, whose arguments hold the path that is meant.
 */
export function placeOf(scope: PathScope, named: string): Place {
  const meant = meaningOf(scope, named);
  if (meant === named) return placeAt(scope, named);
  const [literal, other] = [placeAt(scope, named), meant === undefined ? undefined : placeAt(scope, meant)];
  return {
    forms: [...new Set([...literal.forms, ...(other?.forms ?? [])])],
    inside: literal.inside && other?.inside === true,
  };
}

/** The path that a text means; undefined when it names no place of this machine. */
function meaningOf(scope: PathScope, named: string): string | undefined {
  try {
    return meantPath(named, scope);
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    return undefined;
  }
}

/** Resolves a path that is taken literally. */
export function placeAt(scope: PathScope, path: string): Place {
  const written = inOriginal(scope, path);
  const plain = resolve(scope.root, written);
  const walked = isAbsolute(written) ? written : scope.realRoot + sep + written;
  const asWalked = followLinks(walked);
  const asResolved = walked === plain ? asWalked : followLinks(plain);
  const forms = [plain, asWalked, asResolved].filter((form) => form !== undefined);
  const unresolved = asWalked === undefined || asResolved === undefined;
  return {
    forms: [...new Set(forms)],
    inside: !unresolved && forms.every((form) => fromRoot(scope, form) !== undefined),
  };
}

/** A path of the copy as that of the folder; any other as it is. */
function inOriginal({ root, copy }: PathScope, path: string): string {
  if (copy === undefined || !isAbsolute(path)) return path;
  const inside = relative(copy, resolve(path));
  return inside === ".." || inside.startsWith(`..${sep}`) ? path : join(root, inside);
}

/** The path from the workspace, `/` between its parts and `.` for the workspace itself; undefined when it lies outside. */
export function fromRoot(scope: PathScope, path: string): string | undefined {
  for (const root of [scope.root, scope.realRoot]) {
    if (path === root) return ".";
    const start = root.endsWith(sep) ? root : root + sep;
    if (path.startsWith(start)) return slashes(path.slice(start.length));
  }
  return undefined;
}

/** Whether a pattern fits one of the forms: what a rule that forbids goes by. A relative pattern is tried on paths outside too. */
export function fitsSome(pattern: string, scope: PathScope, place: Place): boolean {
  return place.forms.some(fitting(pattern, scope));
}

/** Whether a pattern fits a path, absolute and without links: `fitsSome` for many paths. */
export function fitting(pattern: string, scope: PathScope): (path: string) => boolean {
  const known = fittings.get(scope) ?? new Map<string, (path: string) => boolean>();
  fittings.set(scope, known);
  const made = known.get(pattern);
  if (made) return made;
  // A rule that forbids a file holds for each name of it that looks the same (F81): a path means that file.
  const matches = matcher(foldedName(globOf(pattern, scope)), true);
  const fits = (path: string) => {
    const inside = fromRoot(scope, path);
    return matches(foldedName(slashes(path))) || (inside !== undefined && matches(foldedName(inside)));
  };
  known.set(pattern, fits);
  return fits;
}

/** The compiled patterns of rules: every call is held against the same ones. */
const fittings = new WeakMap<PathScope, Map<string, (path: string) => boolean>>();

/**
 * Whether a pattern fits every form: what a rule that allows goes by. A relative pattern fits only inside the
 * workspace. Without `hidden`, wildcards pass over names that start with a dot, so that a pattern must spell them.
 */
export function fitsEvery(pattern: string, scope: PathScope, place: Place, hidden: boolean): boolean {
  const glob = globOf(pattern, scope);
  const matches = matcher(glob, hidden);
  const complete = place.inside || glob.startsWith("/");
  return (
    complete &&
    place.forms.every((form) => matches(glob.startsWith("/") ? slashes(form) : (fromRoot(scope, form) ?? "/")))
  );
}

/** The pattern that fits this path and no other. */
export function literalGlob(path: string): string {
  return path.replace(/[\\*?[\]{}()!|+@]/g, "\\$&");
}

function matcher(glob: string, hidden: boolean): (path: string) => boolean {
  const matches = picomatch(glob, { dot: hidden, nonegate: true });
  // A line break in a name would stop the wildcards of the library. Where the path is the workspace itself, `**` is meant to fit.
  return (path) => matches(path.replace(/[\n\r\u2028\u2029]/g, "_")) || (path === "." && glob === "**");
}

/** The pattern in the form of the paths it is compared with: from the workspace where it lies there, else absolute. */
function globOf(pattern: string, scope: PathScope): string {
  const expanded = expandHome(pattern.replace(/^file:\/\/(?:localhost)?(?=\/)/i, ""), literalGlob(slashes(scope.home)));
  if (!expanded.startsWith("/") && !expanded.startsWith("../")) return expanded.replace(/^(?:\.\/+)+(?=.)/, "");
  const absolute = expanded.startsWith("/") ? expanded : climb(expanded, scope.realRoot);
  for (const root of [scope.root, scope.realRoot]) {
    for (const start of [`${slashes(root)}/`, `${literalGlob(slashes(root))}/`]) {
      if (absolute.startsWith(start)) return absolute.slice(start.length) || ".";
    }
  }
  return absolute;
}

/** `../x` from a folder, without touching the wildcards behind it. */
function climb(pattern: string, folder: string): string {
  let rest = pattern;
  let at = folder;
  while (rest.startsWith("../")) {
    rest = rest.slice(3);
    at = dirname(at);
  }
  return `${literalGlob(slashes(at)).replace(/\/$/, "")}/${rest}`;
}

function slashes(path: string): string {
  return sep === "/" ? path : path.split(sep).join("/");
}
