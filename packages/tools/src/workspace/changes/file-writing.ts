import { relative, resolve } from "node:path";
import type { Json, ToolContext } from "@banyan/core";
import type { OptionNames } from "@banyan/core/conversation";
import { WorkspaceError } from "../files/error.ts";
import type { KeyWatch } from "../files/key-file.ts";
import type { Location, Workspace } from "../files/paths.ts";

/** Options of the tools that write files. See {@link editTool}. */
export interface FileWritingOptions {
  /**
   * The folder for previous contents, which allow undo. Created on demand, readable only by the owner. Absent: no
   * contents are kept. The folder should be outside the workspace.
   */
  readonly backups?: string;
  /**
   * Returns the reason why a text of the model must not be written to a file (S10), as a sentence for the model.
   * Undefined if it is allowed.
   */
  readonly refuse?: (text: string) => string | undefined;
  /** Receives the whole content of each file of which a tool result shows only a change and its surroundings (S22). */
  readonly watch?: KeyWatch;
}

export const WRITING_OPTIONS: OptionNames<FileWritingOptions> = { backups: true, refuse: true, watch: true };

/** Throws if the option `refuse` does not allow this text in the file. */
export function assertAllowed(path: string, text: string, refuse: FileWritingOptions["refuse"]): void {
  const reason = refuse?.(text);
  if (reason !== undefined) throw new WorkspaceError("refused", `${path} was not written: ${reason}`);
}

/**
 * Throws if the file is not the approved file. Also throws if a link leads to a file that the rules forbid, because the
 * link may have changed after the approval (S21). `given`: the path in the call. `input`: the call with the link's
 * current target.
 */
export async function assertJudged(
  workspace: Workspace,
  { given, location: { path }, input }: { readonly given: string; readonly location: Location; readonly input: Json },
  { agreed, permit }: ToolContext,
): Promise<void> {
  if (agreed?.changes) {
    if (agreed.changes.some((change) => change.path === path)) return;
    throw new WorkspaceError("changed", `${given} leads to ${path} now, but did not when the user allowed the call.`);
  }
  const names = [workspace.root, workspace.alias].map((root) => relative(root, resolve(root, given)));
  if (names.includes(path) || (await permit(input)).decision === "allow") return;
  throw new WorkspaceError(
    "refused",
    `${given} leads through a link to ${path}, which the user did not allow. Name ${path} itself.`,
  );
}
