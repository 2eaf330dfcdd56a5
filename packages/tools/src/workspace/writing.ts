import { WorkspaceError } from "./error.ts";
import type { Watch } from "./key-file.ts";

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

/** Throws when the host does not let this text get into a file. */
export function assertAllowed(path: string, text: string, refuse: WritingOptions["refuse"]): void {
  const reason = refuse?.(text);
  if (reason !== undefined) throw new WorkspaceError("refused", `${path} was not written: ${reason}`);
}
