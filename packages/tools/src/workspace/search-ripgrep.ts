import { spawn } from "node:child_process";
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { normalize } from "node:path/posix";
import type { Environment } from "./environment.ts";
import { type Line, LineSplitter } from "./file-text.ts";
import { ignoredBelow } from "./git-ignore.ts";
import type { Workspace } from "./paths.ts";
import type { Query } from "./search-files.ts";
import type { SearchEnd } from "./search-in-worker.ts";
import type { Matches } from "./search-matches.ts";
import { compileGlob } from "./search-pattern.ts";

/** No settings of the user's, no rules but those of `.gitignore` files, and results in the order of paths. */
const OPTIONS = [
  "--no-config",
  "--hidden",
  "--glob=!.git",
  "--no-require-git",
  "--no-ignore-dot",
  "--no-ignore-exclude",
  "--no-ignore-global",
  "--no-ignore-parent",
  "--no-messages",
  "--no-heading",
  "--line-number",
  "--with-filename",
  "--null",
  "--color=never",
  "--sort=path",
  "--max-columns=1000",
  "--max-columns-preview",
];

const LONGEST_LINE = 16 * 1024;

/** Where `rg` is. Folders of the path that are relative or inside the workspace do not count: what lies there is not trusted. */
export function findRipgrep(workspace: Workspace, environment: Environment): string | undefined {
  for (const folder of (environment.PATH ?? "").split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const path = join(folder, "rg");
    try {
      accessSync(path, constants.X_OK);
      if (
        !`${realpathSync(path)}${sep}`.startsWith(`${workspace.root}${sep}`) &&
        !`${folder}${sep}`.startsWith(`${workspace.root}${sep}`)
      )
        return path;
    } catch {
      // Not here; the next folder may have it.
    }
  }
  return undefined;
}

/**
 * Searches a folder with ripgrep, to the same result as the built-in search. Answers undefined when ripgrep does not
 * understand the pattern or cannot be started. Ends after `deadline` milliseconds at the latest; throws the signal's
 * reason when it aborts before.
 */
export async function searchWithRipgrep(
  program: string,
  query: Query,
  environment: Record<string, string>,
  matches: Matches,
  deadline: number,
  signal: AbortSignal,
): Promise<SearchEnd | undefined> {
  signal.throwIfAborted();
  const { workspace, place } = query;
  const isWanted = compileGlob(query.glob);
  const isIgnored = ignoredBelow(workspace, place.path);
  const late = AbortSignal.timeout(deadline);
  const child = spawn(program, [...OPTIONS, `--regexp=${query.pattern}`, "--", `./${place.path}`], {
    cwd: workspace.root,
    env: environment,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const stop = AbortSignal.any([signal, late]);
  const kill = () => child.kill("SIGKILL");
  stop.addEventListener("abort", kill, { once: true });
  const exit = new Promise<number | undefined>((resolve) => {
    child.once("error", () => resolve(undefined));
    child.once("close", (code) => resolve(code ?? undefined));
  });
  try {
    let found: string[] = [];
    const take = ({ bytes }: Line) => {
      found.push(bytes.toString("utf8"));
      return true;
    };
    const lines = new LineSplitter({ limit: LONGEST_LINE, first: 1, take });
    for await (const piece of child.stdout) {
      lines.push(piece);
      for (const line of found) {
        const [, path = "", number = "", text = ""] = /^([^\0]+)\0(\d+):(.*)$/s.exec(line) ?? [];
        if (path === "") continue;
        const inside = normalize(path);
        if (!isWanted(inside) || (await isIgnored(inside))) continue;
        if (!matches.add({ path: inside, line: Number(number), text })) return "complete";
      }
      found = [];
    }
    const code = await exit;
    if (signal.aborted) throw signal.reason;
    if (late.aborted) return "late";
    return code === 0 || code === 1 ? "complete" : undefined;
  } finally {
    kill();
    await exit;
    stop.removeEventListener("abort", kill);
  }
}
