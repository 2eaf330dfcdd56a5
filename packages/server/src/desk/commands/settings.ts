import { answerWhatIsCovered } from "./answers.ts";
import type { Handlers } from "./workplace.ts";

/** With which model, and how freely, agents work. */
export const settingsHandlers: Handlers<"model.list" | "model.use" | "approval.use"> = {
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

  async "approval.use"({ mode, conversation, confirmed, run }, desk) {
    const { host, conversations, settingsChanged } = desk;
    await host.useApproval(mode, conversation === undefined ? undefined : { conversation, confirmed }, run);
    settingsChanged();
    for (const live of conversations.allOpen) await answerWhatIsCovered(live, desk, "allow");
    return {};
  },
};
