import { z } from "zod";
import { WorkspaceError } from "./error.ts";
import { meantPath } from "./named-path.ts";
import type { Workspace } from "./paths.ts";

/** Describes a text argument without its bounds: they mean nothing to a model, but would be sent with each request. */
export function textMeta(description: string) {
  return { description, minLength: undefined, maxLength: undefined };
}

/**
 * The schema of a tool argument that names a file or folder. The text is replaced by the path that it means, so that
 * rules, approvals and the tool use the same path.
 */
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
