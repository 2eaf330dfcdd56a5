import { accessSync, constants, globSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, isAbsolute, join } from "node:path";
import type { ServerKind } from "./server-table.ts";

/** Folders of a project with its own programs. */
const OWN_FOLDERS = ["node_modules/.bin", ".venv/bin", "venv/bin"];

/** A command that starts a language server: an absolute path, and its arguments. */
export interface ServerCommand {
  readonly file: string;
  readonly args: readonly string[];
}

/**
 * Finds the programs of a language server, in the order of its commands. Searches for each command in the project's own
 * folders, and then along `PATH`. Downloads nothing. A found program may belong to the project, so it must only start
 * in a sandbox.
 */
export function findServers({ commands }: Pick<ServerKind, "commands">, root: string, path: string): ServerCommand[] {
  const folders = [...OWN_FOLDERS.map((folder) => join(root, folder)), ...path.split(delimiter).filter(isAbsolute)];
  return commands.flatMap(([name, ...args]) => {
    const files = isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name));
    const file = files.find(isProgram);
    return file === undefined ? [] : [{ file, args }];
  });
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    const real = realpathSync(file);
    // Rustup puts names for all its programs on the PATH, also for those that are not installed.
    if (basename(real) === "rustup" && !isInstalledByRustup(basename(file))) return false;
    return statSync(real).isFile();
  } catch {
    // The file is missing or not executable.
    return false;
  }
}

function isInstalledByRustup(name: string): boolean {
  const home = process.env.RUSTUP_HOME ?? join(homedir(), ".rustup");
  return globSync(`toolchains/*/bin/${name}`, { cwd: home }).length > 0;
}
