import type { Tool } from "@banyan/core";
import { editTool } from "./edit.ts";
import type { Environment } from "./environment.ts";
import { listTool } from "./list.ts";
import { openWorkspace } from "./paths.ts";
import { readTool } from "./read.ts";
import { searchTool } from "./search.ts";
import { shellTool } from "./shell.ts";
import { writeTool } from "./write.ts";

export { editTool } from "./edit.ts";
export type { Environment } from "./environment.ts";
export { WorkspaceError, type WorkspaceErrorCode } from "./error.ts";
export { listTool } from "./list.ts";
export { type Location, locate, openWorkspace, type Workspace } from "./paths.ts";
export { readTool } from "./read.ts";
export { type SearchOptions, searchTool } from "./search.ts";
export { type ShellOptions, shellTool } from "./shell.ts";
export { writeTool } from "./write.ts";

/** The folder, and what the tools may see and change of its surroundings. */
export interface WorkspaceToolsOptions {
  /** The folder that the tools work in; it must exist. */
  readonly root: string;
  /** Variables for commands, on top of the program's own without its secrets; an undefined one is taken away. */
  readonly env?: Environment;
  /** Paths, relative to the root or absolute, that are never written, nor anything below them. */
  readonly protected?: readonly string[];
}

/** The tools read, list, search, write, edit and shell for one folder. Throws a `WorkspaceError` when there is no such folder. */
export function workspaceTools(options: WorkspaceToolsOptions): readonly Tool[] {
  const workspace = openWorkspace(options.root, options.protected);
  return [
    readTool(workspace),
    listTool(workspace),
    searchTool(workspace),
    writeTool(workspace),
    editTool(workspace),
    shellTool(workspace, options.env === undefined ? {} : { env: options.env }),
  ];
}
