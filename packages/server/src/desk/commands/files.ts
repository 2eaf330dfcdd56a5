import { changesOf, revertBranch, undoableCalls, undoCall } from "@banyan/host";
import { NotThere } from "../problem.ts";
import { mustBeAtRest, mustBeThere, whileAtRest } from "./at-rest.ts";
import { nearestPaths } from "./nearest-paths.ts";
import type { Handlers } from "./workplace.ts";

/** The files that agents work on. Which of them a branch or a call has changed is told by the log, and not by a client (S4). */
export const fileHandlers: Handlers<"file.find" | "file.revert" | "file.undo"> = {
  async "file.find"({ query, limit = 20 }, { files }) {
    return { files: nearestPaths(query, await files.list(), limit) };
  },

  async "file.revert"({ conversation, leaf, beside }, { host, conversations }) {
    const live = await conversations.open(conversation);
    return live.whileBeginning(async () => {
      const { session } = live;
      const { state } = session;
      const { backups } = await host.ready();
      mustBeThere(state, leaf, beside);
      const files = changesOf(state, leaf, beside);
      mustBeAtRest(
        state,
        files.flatMap(({ changes }) => changes.map(({ call }) => state.calls.get(call))),
      );
      if (files.length === 0) return { changes: [], problems: [] };
      const place = { workspace: host.workspace, backups, redact: host.redact };
      return whileAtRest(session, leaf, () => revertBranch(session, place, { leaf, files }));
    });
  },

  async "file.undo"({ conversation, leaf, call, agreed }, { host, conversations }) {
    const live = await conversations.open(conversation);
    return live.whileBeginning(async () => {
      const { session } = live;
      const { state } = session;
      const { backups } = await host.ready();
      mustBeThere(state, leaf);
      if (!state.calls.has(call)) throw new NotThere(`There is no call ${call} in this conversation.`);
      const done = undoableCalls(state, leaf).find((known) => known.call === call);
      // What is as it was already stays so.
      if (!done) return { changes: [], problems: [] };
      mustBeAtRest(state, [state.calls.get(call)]);
      const place = { workspace: host.workspace, backups, redact: host.redact, ...(agreed && { agreed }) };
      return whileAtRest(session, leaf, () => undoCall(session, place, { ...done, leaf }));
    });
  },
};
