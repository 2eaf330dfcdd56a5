import { changesOf, revertBranch } from "@banyan/host";
import type { Handlers } from "./desk.ts";
import { nearestPaths } from "./nearest-paths.ts";
import { NotThere } from "./problem.ts";

/** The files that agents work on. */
export const fileHandlers: Handlers<"file.find" | "file.revert"> = {
  async "file.find"({ query, limit = 20 }, { files }) {
    return { files: nearestPaths(query, await files.list(), limit) };
  },

  async "file.revert"({ conversation, leaf, beside }, { host, conversations }) {
    const live = await conversations.open(conversation);
    return live.whileBeginning(async () => {
      const { session } = live;
      for (const end of [leaf, beside])
        if (end !== undefined && !session.state.messages.has(end))
          throw new NotThere(`There is no message ${end} in this conversation.`);
      const { backups } = await host.ready();
      // Which files these are is told by the log, and not by the client (S4).
      const files = changesOf(session.state, leaf, beside);
      return revertBranch(session, { workspace: host.workspace, backups }, { leaf, files });
    });
  },
};
