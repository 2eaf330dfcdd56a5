import { basename, isAbsolute, parse, resolve } from "node:path";
import type { StdioEntry } from "./entry.ts";

/**
 * Programs that download and run other programs, with their subcommands for this; an empty list if every subcommand
 * does. All of them read programs and settings (`node_modules/.bin`, `.npmrc`, `uv.toml`, ...) from their working
 * directory and its parents.
 */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  npx: [],
  npm: ["exec", "x"],
  pnpx: [],
  pnpm: ["dlx"],
  yarn: ["dlx"],
  bunx: [],
  bun: ["x"],
  uvx: [],
  uv: ["tool"],
  pipx: ["run"],
  deno: ["run"],
};

export interface ServerLaunch {
  readonly directory: string;
  readonly args: readonly string[];
}

/**
 * Returns where the program of a server starts: in the folder of its entry, or in the workspace. A package runner
 * without a folder starts in the root of the file system: the root has no parent and is no workspace, so no file of a
 * workspace decides which program runs (S16). This applies to entries of a trusted project too, because a sandboxed
 * command or an edit may have added programs and settings since. Arguments that name workspace files (`.`, `..`, `./x`,
 * `../x`, also after `=`) become absolute paths.
 */
export function serverLaunch({ command, args = [], cwd }: StdioEntry, workspace: string): ServerLaunch {
  if (cwd !== undefined || !isPackageRunner({ command, args }))
    return { directory: resolve(workspace, cwd ?? "."), args };
  return { directory: parse(workspace).root, args: args.map((arg) => absoluteArgument(arg, workspace)) };
}

/** Returns whether a command looks up the program to run in its working directory. */
export function isPackageRunner({ command, args = [] }: StdioEntry): boolean {
  const name = basename(command)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|ps1)$/, "");
  const words = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
  // A path into the workspace names exactly that program, which is no package runner.
  if (words === undefined || (name !== command.toLowerCase() && !isAbsolute(command) && /[\\/]/.test(command)))
    return false;
  return words.length === 0 || args.some((arg) => words.includes(arg));
}

function absoluteArgument(arg: string, workspace: string): string {
  const [, option = "", path] = /^(-[^=]*=)?(\.\.?(?:[\\/].*)?)$/s.exec(arg) ?? [];
  return path === undefined ? arg : option + resolve(workspace, path);
}
