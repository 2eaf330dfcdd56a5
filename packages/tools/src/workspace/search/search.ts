import { defineTool, type Tool, type ToolContext } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { z } from "zod";
import { childEnvironment } from "../../sandbox/environment.ts";
import { earlierTexts, isEarlier, LOOKING_BACK } from "../files/earlier.ts";
import { explainPathError, WorkspaceError } from "../files/error.ts";
import { feedLines, LineSplitter } from "../files/file-text.ts";
import { compileGlob } from "../files/glob.ts";
import type { KeyWatch } from "../files/key-file.ts";
import { shownPath } from "../files/named-path.ts";
import { openFile } from "../files/open-path.ts";
import { pathArgument, textMeta } from "../files/path-argument.ts";
import { locate, type Workspace } from "../files/paths.ts";
import { type SearchEnd, searchInWorker } from "./search-in-worker.ts";
import { Matches, type SearchNotes } from "./search-matches.ts";
import { type Pattern, translate } from "./search-pattern.ts";
import { filesThatMayMatch, findRipgrep } from "./search-ripgrep.ts";
import { scopeOf } from "./search-scope.ts";

/** Options of the tool `search`. See {@link searchTool}. */
export interface SearchToolOptions {
  /** Milliseconds for a search. The matches until then are the result. Default 30,000. */
  readonly deadline?: number;
  readonly ripgrep?: boolean;
  /** Gets the files with matches that may be lines of a key (S22). */
  readonly watch?: KeyWatch;
}

const OPTIONS: OptionNames<SearchToolOptions> = { deadline: true, ripgrep: true, watch: true };

const inputOf = (workspace: Workspace) =>
  z.object({
    pattern: z
      .string()
      .min(1)
      .meta(textMeta("Regular expression, for each line; case-sensitive unless it begins with (?i).")),
    path: pathArgument(workspace)
      .overwrite((path) => path || ".")
      .optional()
      .describe("Default: the workspace."),
    glob: z.string().optional().describe("For names, as `*.ts`, or for paths, as `src/**/*.ts`."),
  });

/**
 * Returns the tool `search {pattern, path?, glob?}`: lines of text files that match a regular expression.
 * @example new Agent({ model, tools: [searchTool(workspace, { deadline: 5_000 })] });
 */
export function searchTool(workspace: Workspace, options: SearchToolOptions = {}): Tool {
  refuseUnknown("searchTool", options, OPTIONS);
  const { deadline = 30_000, ripgrep = true, watch } = options;
  return defineTool({
    name: "search",
    description:
      "Searches text files. Returns `path:line:text` for each matching line. " +
      "Skips binary files and files that .gitignore excludes.",
    input: inputOf(workspace),
    brief: "Searches text files for a regular expression.",
    effects: "none",
    eager: true,
    files: "read",
    readsEarlier: true,
    about: ({ pattern, path = "." }) => ({
      title: pattern,
      ...(isEarlier(path) ? LOOKING_BACK : { paths: [{ path, access: "read" }] }),
      looksAt: { one: "search", several: "searches" },
    }),
    async execute({ pattern, path = ".", glob }, context) {
      const translated = translate(pattern);
      compileGlob(glob);
      if (isEarlier(path)) return inEarlier(pattern, path, glob, context);
      const place = await locate(workspace, path);
      if (place.kind === "missing")
        throw new WorkspaceError(
          "missing",
          `There is nothing at ${place.path} to search. Use list to see what is there.`,
        );
      if (place.kind === "special")
        throw new WorkspaceError("kind", `${place.path} is ${place.what} and is not searched.`);
      const { whyNotRead } = workspace;
      const isOpen = whyNotRead && remembering((file) => whyNotRead(file, place.path) === undefined);
      const matches = new Matches(isOpen);
      const until = performance.now() + deadline;
      const late = AbortSignal.timeout(deadline);
      const signal = AbortSignal.any([context.signal, late]);
      try {
        const { files: all, leftOut, links } = await scopeOf(workspace, place, glob, signal);
        const files = await likelyFiles(isOpen ? all.filter(isOpen) : all, translated, signal);
        const left = Math.max(1, Math.ceil(until - performance.now()));
        const end = await searchInWorker({ workspace, pattern, files }, matches, left, context.signal);
        const isEmpty = all.length === 0 && leftOut.every(({ isFolder }) => isFolder);
        const advice = isEmpty ? [nothingThere(place.path, glob)] : patternAdvice(translated);
        return searchReport(matches, end, { leftOut, links, advice, notes: notesOn(translated) }, context.signal);
      } catch (error) {
        context.signal.throwIfAborted();
        if (!late.aborted) throw explainPathError(place.path, error);
        return searchReport(matches, "late", { notes: notesOn(translated) }, context.signal);
      }
    },
  });

  async function likelyFiles(files: readonly string[], pattern: Pattern, signal: AbortSignal) {
    const program = ripgrep ? findRipgrep(workspace, process.env) : undefined;
    if (program === undefined) return files;
    return filesThatMayMatch(program, workspace, files, pattern, childEnvironment(process.env, {}), signal);
  }

  /** Searches earlier messages. Uses the same worker, so that an endless pattern is stopped. */
  async function inEarlier(pattern: string, path: string, glob: string | undefined, context: ToolContext) {
    if (glob !== undefined)
      throw new WorkspaceError(
        "pattern",
        `A glob matches file names, but ${path} contains no files. Leave the glob out.`,
      );
    const texts = await earlierTexts(path, context);
    const matches = new Matches();
    const end = await searchInWorker({ texts, pattern }, matches, deadline, context.signal);
    const translated = translate(pattern);
    return matches.text({ advice: patternAdvice(translated), notes: notesOn(translated), ...stoppedBy(end) });
  }

  /**
   * Returns the result. First reads the files whose matches may be lines of a key, because a single line does not
   * reveal a key.
   */
  async function searchReport(
    matches: Matches,
    end: SearchEnd,
    beside: SearchNotes,
    signal: AbortSignal,
  ): Promise<string> {
    if (watch) {
      for (const [path, line] of matches.mayHoldKeys) await look(path, line, watch, signal);
    }
    return matches.text({ ...beside, ...stoppedBy(end) });
  }

  function stoppedBy(end: SearchEnd): Pick<SearchNotes, "stopped"> {
    return end === "late"
      ? {
          stopped: `stopped after ${deadline} ms, so there may be more; search a smaller folder, or with a simpler pattern (no repetition inside a repetition)`,
        }
      : {};
  }

  async function look(path: string, line: number, watch: KeyWatch, signal: AbortSignal): Promise<void> {
    try {
      await using file = await openFile(workspace, path);
      await feedLines(file.handle, new LineSplitter({ limit: 1, first: line, take: () => false }), { signal, watch });
    } catch (error) {
      // The file was removed since the search, so its content cannot be judged.
      if (!(error instanceof WorkspaceError)) throw error;
    }
  }
}

function notesOn({ note }: Pattern): readonly string[] {
  return note === undefined ? [] : [note];
}

function patternAdvice({ spans, stopsAtLineEnd }: Pattern): readonly string[] {
  const isByLine = stopsAtLineEnd && !spans;
  return isByLine ? ["each line was searched alone; write \\n in the pattern where a line ends"] : [];
}

function nothingThere(path: string, glob: string | undefined): string {
  if (glob === undefined) return `there is no file to search in ${shownPath(path)}`;
  const from = glob.includes("/") ? "; a glob with / is a path from the workspace" : "";
  return `no file in ${shownPath(path)} fits the glob ${JSON.stringify(glob)}${from}`;
}

function remembering(judge: (path: string) => boolean): (path: string) => boolean {
  const known = new Map<string, boolean>();
  return (path) => {
    const verdict = known.get(path) ?? judge(path);
    known.set(path, verdict);
    return verdict;
  };
}
