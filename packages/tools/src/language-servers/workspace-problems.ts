import { errorMessage } from "@banyan/core/shown";
import { listFiles } from "../workspace/files/list-files.ts";
import { locate, type Workspace } from "../workspace/files/paths.ts";
import { readText } from "../workspace/files/text-content.ts";
import type { LanguageServers } from "./language-servers.ts";
import { type CheckedFile, type FileProblem, newProblems, shownProblems } from "./problems.ts";

/** Maximum files, and milliseconds for all of them. */
const MOST_FILES = 500;
const LONGEST = 180_000;

/**
 * The problems of the files of a workspace, by path. Files without problems have no text.
 * See {@link workspaceProblems}.
 */
export type WorkspaceProblems = Readonly<Record<string, CheckedFile>>;

/**
 * Resolves with the problems of all files that a language server checks, without ignored files. Compares with `before`,
 * if given: its files are also checked if they are ignored now. Rejects with a sentence if no server checks the files, if
 * a server fails, or if the files are too many.
 * @example
 * const now = async (servers: LanguageServers) => {
 *   const { signal } = new AbortController();
 *   return workspaceProblems(openWorkspace("."), servers, signal);
 * };
 */
export async function workspaceProblems(
  workspace: Workspace,
  servers: Pick<LanguageServers, "canCheck" | "inspect">,
  signal: AbortSignal,
  before: WorkspaceProblems = {},
): Promise<WorkspaceProblems> {
  const listed = (await listFiles(workspace.root)).filter((path) => servers.canCheck(path));
  const paths = new Set([...listed, ...Object.keys(before)]);
  if (paths.size === 0) throw new Error("No installed language server checks a file of this folder.");
  if (paths.size > MOST_FILES)
    throw new Error(`Language servers would check ${paths.size} files. At most ${MOST_FILES} are possible here.`);
  const until = performance.now() + LONGEST;
  const found: Record<string, CheckedFile> = {};
  for (const path of [...paths].sort()) {
    signal.throwIfAborted();
    const { kind } = await locate(workspace, path);
    if (kind === "missing") continue;
    const text = await readText(workspace, path).then(
      (content) => content.text,
      (error: unknown) => ({ unread: errorMessage(error) }),
    );
    if (typeof text === "string") {
      const left = Math.ceil(until - performance.now());
      if (left <= 0) throw new Error("The language servers need too much time for the files of this folder.");
      const problems = await servers.inspect(path, left, signal).catch((error: unknown) => {
        throw new Error(`${path} was not checked: ${errorMessage(error)}.`, { cause: error });
      });
      found[path] = problems.length === 0 ? { text: undefined, problems } : { text, problems };
    } else {
      // A file that only becomes unreadable must not hide its problems.
      const problem = { path, line: 1, severity: "error", text: `cannot be checked: ${text.unread}` } as const;
      found[path] = { text: undefined, problems: [problem] };
    }
  }
  return found;
}

/**
 * Returns the problems that are new since `before`, as lines.
 * @example newProblemLines({}, { "a.ts": { text: "x", problems: [{ path: "a.ts", line: 1, severity: "error", text: "Missing." }] } }) // ["a.ts:1: error: Missing."]
 */
export function newProblemLines(before: WorkspaceProblems, now: WorkspaceProblems): string[] {
  const none: CheckedFile = { text: undefined, problems: [] };
  const found = Object.entries(now).flatMap(([path, file]): readonly FileProblem[] =>
    newProblems(before[path] ?? none, file),
  );
  return shownProblems(found);
}
