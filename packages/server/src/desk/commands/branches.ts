import { Interruption, newestLeaf } from "@banyan/core";
import { standing } from "@banyan/core/conversation";
import { TurnNotBegun } from "../live/beginnings.ts";
import { agentFor } from "./agent-for.ts";
import { mustBeAtRest, mustBeThere } from "./at-rest.ts";
import type { Handlers } from "./workplace.ts";

/** What is done with a branch as a whole. */
export const branchHandlers: Handlers<"branch.compact"> = {
  async "branch.compact"({ conversation, id, at, keep, model }, desk) {
    const { host, conversations } = desk;
    using beginning = desk.beginnings.of({ conversation, id });
    const live = await conversations.open(conversation);
    return await live.whileBeginning(async () => {
      const { session } = live;
      const { state } = session;
      await host.ready();
      const agent = await agentFor(desk, live, { model });
      mustBeThere(state, at);
      const leaf = at ?? standing(state, state.leaf);
      if (leaf === null) return { problem: "Nothing has been said yet." };
      mustBeAtRest(state, [leaf]);
      const wanted = keep === undefined ? {} : { keep: host.redact(keep) };
      beginning.begins();
      const problem = await agent.compact({ session, at: leaf, id, ...wanted }).catch((error: unknown) => {
        // While it waited for its branch.
        throw error instanceof Interruption ? new TurnNotBegun() : error;
      });
      return problem === undefined ? { summary: newestLeaf(state, leaf) } : { problem };
    });
  },
};
