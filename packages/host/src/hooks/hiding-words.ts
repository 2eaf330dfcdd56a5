import { statSync } from "node:fs";
import type { EnvironmentVariables } from "@banyan/models";
import { findProgram } from "../programs/find-program.ts";

/**
 * Returns words to put before a program and its arguments. They start the program with its own rights, but without
 * access to the paths (S42). A program that wants to reach the paths can still do so, for example through another
 * program of the machine.
 */
export function hidingWords(
  paths: readonly string[],
  { env, folder }: { readonly env: EnvironmentVariables; readonly folder: string },
): readonly string[] {
  const bwrap = paths.length === 0 ? undefined : findProgram("bwrap", env.PATH ?? "", [folder]);
  if (bwrap === undefined) return [];
  const masks = paths.flatMap((path) => (isFolder(path) ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path]));
  return [bwrap, "--dev-bind", "/", "/", ...masks, "--"];
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
