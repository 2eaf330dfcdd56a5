import { listedHooks, listPrompts } from "@banyan/host";
import type { ServerSettings } from "@banyan/protocol";
import { answerCoveredCalls } from "./answers.ts";
import { type Handlers, hasWorkspace, type ServedHost } from "./workplace.ts";

/** The settings for guests with a link. */
export const NO_SETTINGS: ServerSettings = { model: "", approval: "ask", unasked: [], carriedOut: [] };

/** Returns the settings that every client gets. */
export function serverSettings({ model, approval, unasked, carriedOut }: ServedHost): ServerSettings {
  return { model: model.name, approval, unasked: [...unasked], carriedOut: [...carriedOut] };
}

/** Handlers of the commands about models, approval mode, prompts and equipment. */
export const settingsHandlers: Handlers<
  "model.list" | "model.use" | "approval.use" | "prompt.list" | "equipment.read" | "sandbox.read" | "address.revoke"
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

  async "sandbox.read"({ conversation }, { host }) {
    const { sandbox: state, network } = await host.ready();
    return { state, addresses: (network?.list(conversation) ?? []).map((each) => ({ ...each })) };
  },

  async "address.revoke"({ address, conversation }, { host }) {
    const { network } = await host.ready();
    return { revoked: network?.revoke(address, conversation) ?? false };
  },
};
