import { relative, resolve } from "node:path";
import type { Json, ToolContext } from "@banyan/core";
import type { OptionNames } from "@banyan/core/conversation";
import { WorkspaceError } from "../files/error.ts";
import type { Watch } from "../files/key-file.ts";
import type { Location, Workspace } from "../files/paths.ts";

/** What is done besides when a tool writes a file. */
export interface WritingOptions {
  /**
   * The folder in which previous contents are kept, so that changes can be undone: made when it is needed, for the owner
   * alone. Without it nothing is kept. It should lie outside of the workspace.
   */
  readonly backups?: string;
  /** Says why a text that the model wrote must not get into a file (S10), in a sentence for the model; nothing when it may. */
  readonly refuse?: (text: string) => string | undefined;
  /** Told of what a file holds of which a part is shown: what was changed, what is around it (S22). */
  readonly watch?: Watch;
}

export const WRITING_OPTIONS: OptionNames<WritingOptions> = { backups: true, refuse: true, watch: true };

/** Throws when the host does not let this text get into a file. */
export function assertAllowed(path: string, text: string, refuse: WritingOptions["refuse"]): void {
  const reason = refuse?.(text);
  if (reason !== undefined) throw new WorkspaceError("refused", `${path} was not written: ${reason}`);
}

/**
 * Throws when the file is another one than a person saw, or is reached through a link and the rules do not allow it by its own
 * name: between the judgement and the writing a link can be made to lead elsewhere (S21). `given` is what the call named, and
 * `input` the call as it is when it names where that leads now.
 */
export async function assertJudged(
  workspace: Workspace,
  { given, location: { path }, input }: { readonly given: string; readonly location: Location; readonly input: Json },
  { agreed, permit }: ToolContext,
): Promise<void> {
  if (agreed?.changes) {
    if (agreed.changes.some((change) => change.path === path)) return;
    throw new WorkspaceError(
      "changed",
      `${given} leads to ${path} now, and did not when a person allowed to write it.`,
    );
  }
  const names = [workspace.root, workspace.alias].map((root) => relative(root, resolve(root, given)));
  if (names.includes(path) || (await permit(input)).decision === "allow") return;
  throw new WorkspaceError(
    "refused",
    `${given} leads through a link to ${path}, which nobody allowed to write. Name ${path} itself.`,
  );
}
