import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { expandHome, foldedName, meantPath } from "@banyan/tools/named-path";
import { followLinks, WorkspaceError } from "@banyan/tools/workspace";
import picomatch from "picomatch";

/** The folder that paths are judged against, fixed when the conversation starts. */
export interface PathScope {
  /** The path as given; absolute. */
  readonly root: string;
  /** The path with its links resolved. */
  readonly realRoot: string;
  readonly home: string;
  /** A copy of the folder, without links: its paths are judged as the same paths of the folder. */
  readonly copy?: string | undefined;
}

/** The place that a path leads to. */
export interface ResolvedPath {
  /** Absolute paths: as written, and as the system resolves it, with links and `..` resolved part by part. */
  readonly forms: readonly string[];
  /** True if each form of the path is in the workspace. */
  readonly inside: boolean;
}

/** Makes the scope of paths: `workspace`, whose links are resolved now, and `home`, which `~` means. All are absolute. */
export function pathScope(workspace: string, home: string, copy?: string): PathScope {
  const root = resolve(workspace);
  return { root, realRoot: followLinks(root) ?? root, home, copy };
}

/**
 * Resolves a path; relative paths start at the workspace. For a missing file, the rest of its path is taken as written. The forms
 * include the path that the text means (S35) and the literal text, since another program's tool may use either. Both are equal for
 * our own tools.
 */
export function resolveNamedPath(scope: PathScope, named: string): ResolvedPath {
  const meant = meantLocalPath(scope, named);
  if (meant === named) return resolveLiteralPath(scope, named);
  const [literal, other] = [
    resolveLiteralPath(scope, named),
    meant === undefined ? undefined : resolveLiteralPath(scope, meant),
  ];
  return {
    forms: [...new Set([...literal.forms, ...(other?.forms ?? [])])],
    inside: literal.inside && other?.inside === true,
  };
}

/** The path that a text means; undefined if it names no place on this machine. */
function meantLocalPath(scope: PathScope, named: string): string | undefined {
  try {
    return meantPath(named, scope);
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    return undefined;
  }
}

/** Resolves a path that is taken literally. */
export function resolveLiteralPath(scope: PathScope, path: string): ResolvedPath {
  const written = inOriginal(scope, path);
  const plain = resolve(scope.root, written);
  const walked = isAbsolute(written) ? written : scope.realRoot + sep + written;
  const asWalked = followLinks(walked);
  const asResolved = walked === plain ? asWalked : followLinks(plain);
  const forms = [plain, asWalked, asResolved].filter((form) => form !== undefined);
  const unresolved = asWalked === undefined || asResolved === undefined;
  return {
    forms: [...new Set(forms)],
    inside: !unresolved && forms.every((form) => pathFromWorkspace(scope, form) !== undefined),
  };
}

/** Maps a path of the copy to the folder; returns any other path unchanged. */
function inOriginal({ root, copy }: PathScope, path: string): string {
  if (copy === undefined || !isAbsolute(path)) return path;
  const inside = relative(copy, resolve(path));
  return inside === ".." || inside.startsWith(`..${sep}`) ? path : join(root, inside);
}

/** The path relative to the workspace, with `/`, or `.` for the workspace itself; undefined for a path outside. */
export function pathFromWorkspace(scope: PathScope, path: string): string | undefined {
  for (const root of [scope.root, scope.realRoot]) {
    if (path === root) return ".";
    const start = root.endsWith(sep) ? root : root + sep;
    if (path.startsWith(start)) return slashes(path.slice(start.length));
  }
  return undefined;
}

/** Returns whether a pattern matches any form; for deny rules. Relative patterns also apply to paths outside. */
export function fitsSome(pattern: string, scope: PathScope, place: ResolvedPath): boolean {
  return place.forms.some(pathMatcher(pattern, scope));
}

/** Compiles a pattern into a check of absolute paths without links: `fitsSome` for many paths. */
export function pathMatcher(pattern: string, scope: PathScope): (path: string) => boolean {
  const known = fittings.get(scope) ?? new Map<string, (path: string) => boolean>();
  fittings.set(scope, known);
  const made = known.get(pattern);
  if (made) return made;
  // A deny rule also matches names that look the same (F81): a path may mean that file.
  const matches = matcher(foldedName(globOf(pattern, scope)), true);
  const fits = (path: string) => {
    const inside = pathFromWorkspace(scope, path);
    return matches(foldedName(slashes(path))) || (inside !== undefined && matches(foldedName(inside)));
  };
  known.set(pattern, fits);
  return fits;
}

/** Compiled patterns by scope: every call is checked against the same rules. */
const fittings = new WeakMap<PathScope, Map<string, (path: string) => boolean>>();

/**
 * Returns whether a pattern matches every form; for allow rules. A relative pattern matches only inside the workspace. Without
 * `hidden`, wildcards skip names that start with a dot, so a pattern must spell them.
 */
export function fitsEvery(pattern: string, scope: PathScope, place: ResolvedPath, hidden: boolean): boolean {
  const glob = globOf(pattern, scope);
  const matches = matcher(glob, hidden);
  const complete = place.inside || glob.startsWith("/");
  return (
    complete &&
    place.forms.every((form) => matches(glob.startsWith("/") ? slashes(form) : (pathFromWorkspace(scope, form) ?? "/")))
  );
}

/** The pattern that matches only this path. */
export function literalGlob(path: string): string {
  return path.replace(/[\\*?[\]{}()!|+@]/g, "\\$&");
}

function matcher(glob: string, hidden: boolean): (path: string) => boolean {
  const matches = picomatch(glob, { dot: hidden, nonegate: true });
  // A line break in a name would stop the library's wildcards. `**` also matches the workspace itself.
  return (path) => matches(path.replace(/[\n\r\u2028\u2029]/g, "_")) || (path === "." && glob === "**");
}

/** Rewrites a pattern like the paths that it is compared with: relative in the workspace, absolute outside. */
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

/** Resolves leading `../` from a folder without touching wildcards. */
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

export interface SubjectContext {
  readonly scope: PathScope;
  /** Resolves a path; a cache, for a call that names one path several times. */
  readonly place?: (path: string) => ResolvedPath;
  /** True if files of the workspace may be written without a rule. */
  readonly writes: boolean;
  /** True if a rule of this tool name is about writing files. Such a rule also covers files that commands write. */
  readonly isWriter: (name: string) => boolean;
}
