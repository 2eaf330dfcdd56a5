import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { expandHome, foldedName, meantPath } from "@banyan/tools/named-path";
import { followLinks, WorkspaceError } from "@banyan/tools/workspace";
import picomatch from "picomatch";

/** The folder against which paths are judged. Fixed when the conversation starts. */
export interface PathScope {
  /** The absolute path as it was given. */
  readonly root: string;
  /** The path with its links resolved. */
  readonly realRoot: string;
  readonly home: string;
  /**
   * The path of a copy of the folder, without links. Paths in the copy are judged like the same paths of the folder.
   */
  readonly copy?: string | undefined;
}

/** A path as written and as resolved. */
export interface ResolvedPath {
  /** The path in its absolute forms: as written, and as the system resolves links and `..`. */
  readonly forms: readonly string[];
  /** True if all of these paths are in the workspace. */
  readonly inside: boolean;
}

/** Makes the scope of paths, and resolves the links of `workspace`. `home`: the folder that `~` means. */
export function pathScope(workspace: string, home: string, copy?: string): PathScope {
  const root = resolve(workspace);
  return { root, realRoot: followLinks(root) ?? root, home, copy };
}

/**
 * Resolves a path relative to the workspace. The file need not exist. The result contains the path that the text means
 * (S35) and the path as it is written, because another program's tool can use either.
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

/** Undefined if the text names no place on this machine. */
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

/** Maps a path of the copy to the folder. */
function inOriginal({ root, copy }: PathScope, path: string): string {
  if (copy === undefined || !isAbsolute(path)) return path;
  const inside = relative(copy, resolve(path));
  return inside === ".." || inside.startsWith(`..${sep}`) ? path : join(root, inside);
}

/** Returns the path relative to the workspace with `/`, or `.` for the workspace; undefined for a path outside. */
export function pathFromWorkspace(scope: PathScope, path: string): string | undefined {
  for (const root of [scope.root, scope.realRoot]) {
    if (path === root) return ".";
    const start = root.endsWith(sep) ? root : root + sep;
    if (path.startsWith(start)) return slashes(path.slice(start.length));
  }
  return undefined;
}

/** Returns whether a deny rule's pattern matches any form of a path. Relative patterns also apply to paths outside. */
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

/** A cache: every call is checked against the same rules. */
const fittings = new WeakMap<PathScope, Map<string, (path: string) => boolean>>();

/**
 * Returns whether an allow rule's pattern matches every form of a path. A relative pattern matches only inside the
 * workspace. Without `hidden`, a pattern must write out names that start with a dot.
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

/** Returns the pattern that matches only this path. */
export function literalGlob(path: string): string {
  return path.replace(/[\\*?[\]{}()!|+@]/g, "\\$&");
}

function matcher(glob: string, hidden: boolean): (path: string) => boolean {
  const matches = picomatch(glob, { dot: hidden, nonegate: true });
  // A line break in a name would stop the library's wildcards. `**` also matches the workspace itself.
  return (path) => matches(path.replace(/[\n\r\u2028\u2029]/g, "_")) || (path === "." && glob === "**");
}

/** Rewrites a pattern like the paths: relative in the workspace, absolute outside. */
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

/**
 * Returns two forms of a pattern. The first is relative to `scope`, if the pattern is in the scope's workspace. The
 * second is the absolute path before its first wildcard. A relative pattern starts in the folder of `at`.
 */
export function splitPattern(
  pattern: string,
  scope: PathScope,
  at: PathScope,
): { readonly glob: string; readonly start: string; readonly isWild: boolean } {
  const glob = globOf(pattern, scope);
  const { base, isGlob } = picomatch.scan(glob, { unescape: true });
  return { glob, start: resolve(at.realRoot, base), isWild: isGlob };
}

/** Resolves leading `../` without touching wildcards. */
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
  /** Caches resolved paths of one call. */
  readonly place?: (path: string) => ResolvedPath;
  /** True if files of the workspace may be written without a rule. */
  readonly writes: boolean;
  /** Returns whether a rule of this tool name is about writing files, also by commands. */
  readonly isWriter: (name: string) => boolean;
}
