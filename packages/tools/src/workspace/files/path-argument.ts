import { z } from "zod";
import { WorkspaceError } from "./error.ts";
import { meantPath } from "./named-path.ts";
import type { Workspace } from "./paths.ts";

/** The schema of an argument that names a file or folder. The meant path replaces the text, so rules, display and tool agree. */
export function pathArgument(workspace: Workspace) {
  return z.string().check((argument) => {
    try {
      argument.value = meantPath(argument.value, workspace);
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      const message = error.message.replace(/\.$/, "");
      argument.issues.push({ code: "custom", message, input: argument.value, path: [] });
    }
  });
}
