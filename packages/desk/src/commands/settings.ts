import { listedHooks, listPrompts } from "@banyan/host";
import { answerCoveredCalls } from "./answers.ts";
import { type Handlers, hasWorkspace } from "./workplace.ts";

/** Handlers of the commands about models, approval mode, prompts and equipment. */
export const settingsHandlers: Handlers<
  "model.list" | "model.use" | "approval.use" | "prompt.list" | "equipment.read"
> = {
  "model.list": ({ provider }, { models }) => models.of(provider),

  async "model.use"({ model, conversation }, { host, conversations, settingsChanged }) {
    if (conversation === undefined) {
      await host.useModel(model);
      settingsChanged();
      return {};
    }
    const { session } = await conversations.open(conversation);
    // An unusable model must not enter the log.
    await host.agentWith(model);
    await session.notes.changeModel(model);
    return {};
  },

  async "approval.use"({ mode, conversation, confirmed, run }, desk) {
    const { host, conversations, settingsChanged } = desk;
    await host.useApproval(mode, conversation === undefined ? undefined : { conversation, confirmed }, run);
    settingsChanged();
    for (const live of conversations.allOpen) await answerCoveredCalls(live, desk, "allow");
    return {};
  },

  async "prompt.list"({ wait = 0 }, { host, signal }) {
    const { prompts, starting } = await listPrompts(host, wait, signal);
    return {
      prompts: prompts.map((prompt) => ({ ...prompt, arguments: prompt.arguments.map((each) => ({ ...each })) })),
      starting: [...starting],
    };
  },

  async "equipment.read"({ conversation }, { host }) {
    const { mcp, memory } = await host.ready();
    const isOff = conversation !== undefined && memory && !(await memory.isOn(conversation));
    return {
      servers: (mcp?.states ?? []).map(({ name, status, ...more }) => ({
        name,
        status,
        ...("tools" in more ? { tools: more.tools } : {}),
        ...("reason" in more ? { reason: host.redact(String(more.reason)) } : {}),
      })),
      hooks: (hasWorkspace(host) ? listedHooks(host) : []).map(({ hooks, ...source }) => ({
        ...source,
        hooks: hooks.map((hook) => ({ ...hook, command: host.redact(hook.command) })),
      })),
      memory: memory ? (isOff ? "off" : "on") : "not-agreed",
    };
  },
};
