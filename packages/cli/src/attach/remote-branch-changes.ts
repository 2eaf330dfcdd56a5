import type { Standpoint } from "../chat/standpoint.ts";
import type { ConversationContext } from "../commands/command.ts";
import type { RemoteSession } from "./remote-session.ts";

/** What a person has done to a branch of a server without a turn; they stand behind what that wrote. */
export function remoteBranchChanges(
  standpoint: Standpoint,
  open: () => Promise<RemoteSession>,
): Pick<ConversationContext, "compact" | "undo"> {
  return {
    async undo({ call }) {
      const { below } = standpoint;
      // Above the first message nothing was done.
      if (below === null) return { changes: [], problems: [] };
      const taken = await (await open()).undo(call, below);
      standpoint.wrote(taken.message);
      return taken;
    },
    async compact(leaf, keep) {
      const { summary, problem } = await (await open()).compact(leaf, keep);
      standpoint.wrote(summary);
      return problem;
    },
  };
}
