import type { Handlers } from "./desk.ts";
import { nearestPaths } from "./nearest-paths.ts";

/** With which model, and how freely, agents work. */
export const settingsHandlers: Handlers<"model.list" | "model.use" | "approval.use" | "file.find"> = {
  "model.list": ({ provider }, { models }) => models.of(provider),

  async "model.use"({ model, conversation }, { host, conversations, settingsChanged }) {
    if (conversation === undefined) {
      await host.useModel(model);
      settingsChanged();
      return {};
    }
    const { session } = await conversations.open(conversation);
    // One that cannot be used must not stand in the log.
    await host.agentWith(model);
    await session.changeModel(model);
    return {};
  },

  async "file.find"({ query, limit = 20 }, { files }) {
    return { files: nearestPaths(query, await files.list(), limit) };
  },

  "approval.use"({ mode }, { host, settingsChanged }) {
    host.useApproval(mode);
    settingsChanged();
    return {};
  },
};
