import { basename, isAbsolute, parse, resolve } from "node:path";
import type { StdioEntry } from "./entry.ts";

/**
 * Programs that fetch and run others, by the word that makes them do so; an empty list when they always do. All of
 * them look for programs and settings (`node_modules/.bin`, `.npmrc`, `uv.toml`, ...) in the folder that they start in,
 * and in those around it.
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

/** Where a server starts, and with which arguments. */
export interface StartingPlace {
  readonly directory: string;
  readonly args: readonly string[];
}

/**
 * A server starts in the workspace, or in the folder that its entry names. One that a package runner starts, without
 * such a folder, starts in the root of the file system, which has no folder around it and is no workspace, so that
 * nothing that lies in a workspace decides which program runs (S16). That is so for a project's own entries too: trust is
 * given to what was there, and a command in the sandbox, or an edit, may have put programs and settings into the workspace
 * since, which would run outside of it, with the variables that the entry names. Arguments that name something of the workspace
 * (`.`, `..`, `./x`, `../x`, also behind `=`) are written out as whole paths.
 */
export function startingPlace({ command, args = [], cwd }: StdioEntry, workspace: string): StartingPlace {
  if (cwd !== undefined || !isPackageRunner({ command, args }))
    return { directory: resolve(workspace, cwd ?? "."), args };
  return { directory: parse(workspace).root, args: args.map((arg) => wholePath(arg, workspace)) };
}

/** Whether what runs is looked for where it starts. */
export function isPackageRunner({ command, args = [] }: StdioEntry): boolean {
  const name = basename(command)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|ps1)$/, "");
  const words = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
  // Who names a program of the workspace by its path means that one.
  if (words === undefined || (name !== command.toLowerCase() && !isAbsolute(command) && /[\\/]/.test(command)))
    return false;
  return words.length === 0 || args.some((arg) => words.includes(arg));
}

function wholePath(arg: string, workspace: string): string {
  const [, option = "", path] = /^(-[^=]*=)?(\.\.?(?:[\\/].*)?)$/s.exec(arg) ?? [];
  return path === undefined ? arg : option + resolve(workspace, path);
}
