import { spawn } from "node:child_process";
import { normalize } from "node:path/posix";
import { findProgram } from "../sandbox/find-program.ts";
import type { Environment } from "./environment.ts";
import { ignoredBelow } from "./git-ignore.ts";
import type { Workspace } from "./paths.ts";
import type { Query } from "./search-files.ts";
import { MOST_COUNTED } from "./search-matches.ts";
import { compileGlob } from "./search-pattern.ts";

/** No settings of the user's or of git's, no rules but those of the workspace's ignore files, and results in the order of paths. */
const OPTIONS = [
  "--no-config",
  "--hidden",
  "--glob=!.git",
  "--no-require-git",
  "--no-ignore-exclude",
  "--no-ignore-global",
  "--no-ignore-parent",
  "--no-follow",
  "--no-messages",
  "--files-with-matches",
  "--null",
  "--color=never",
  "--sort=path",
];

/** Where `rg` is. Folders of the path that are relative or inside the workspace do not count: what lies there is not trusted. */
export function findRipgrep({ root, alias }: Workspace, environment: Environment): string | undefined {
  return findProgram("rg", environment.PATH ?? "", [root, alias]);
}

/**
 * Asks ripgrep which files of a folder to look into. It opens files by their paths, which can be led elsewhere while it
 * looks: so nothing that it saw is told, and each file that it names is opened again in our own way (S21). `isOpen` says
 * of which files to tell. Returns undefined when ripgrep does not understand the pattern or cannot be started. Throws the signal's reason when it aborts.
 */
export async function filesByRipgrep(
  program: string,
  query: Query,
  environment: Record<string, string>,
  isOpen: (path: string) => boolean,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  signal.throwIfAborted();
  const { workspace, place } = query;
  const isWanted = compileGlob(query.glob);
  const isIgnored = ignoredBelow(workspace, place.path);
  const child = spawn(program, [...OPTIONS, `--regexp=${query.pattern}`, "--", `./${place.path}`], {
    cwd: workspace.root,
    env: environment,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  const exit = new Promise<number | undefined>((resolve) => {
    child.once("error", () => resolve(undefined));
    child.once("close", (code) => resolve(code ?? undefined));
  });
  try {
    const files: string[] = [];
    child.stdout.setEncoding("utf8");
    let rest = "";
    for await (const piece of child.stdout) {
      const paths = (rest + piece).split("\0");
      rest = paths.pop() ?? "";
      for (const path of paths.map(normalize)) {
        if (!isWanted(path) || (await isIgnored(path)) || !isOpen(path)) continue;
        files.push(path);
        // Each has a match: more would not be counted.
        if (files.length === MOST_COUNTED) return files;
      }
    }
    const code = await exit;
    signal.throwIfAborted();
    return code === 0 || code === 1 ? files : undefined;
  } finally {
    kill();
    await exit;
    signal.removeEventListener("abort", kill);
  }
}
