import { isAbsolute, relative } from "node:path";
import { errorMessage } from "@banyan/core/shown";
import { listedHooks, listPrompts } from "@banyan/host";
import { approvalSettings, type ServerSettings } from "@banyan/protocol";
import { modeChanged } from "./answers.ts";
import { type Handlers, hasWorkspace, type ServedHost } from "./workplace.ts";

/** The settings for guests with a link. */
export const NO_SETTINGS: ServerSettings = {
  model: "",
  ...approvalSettings("ask"),
  modes: [],
  unasked: [],
  carriedOut: [],
};

/** Returns the settings that every client gets. */
export function serverSettings({ model, approval, modes, unasked, carriedOut }: ServedHost): ServerSettings {
  return {
    model: model.name,
    ...approvalSettings(approval),
    modes: [...modes.offered],
    unasked: [...unasked],
    carriedOut: [...carriedOut],
  };
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
    await desk.host.useApproval(mode, conversation === undefined ? undefined : { conversation, confirmed }, run);
    await modeChanged(desk);
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
    const { sandbox: state, network, openPorts, hiddenIn } = await host.ready();
    const { workspace } = host;
    let hidden: readonly string[] = [];
    let problem = "";
    try {
      if (workspace !== undefined) hidden = await hiddenIn(workspace);
    } catch (error) {
      problem = ` ${errorMessage(error)}`;
    }
    return {
      state: state + problem,
      addresses: (network?.list(conversation) ?? []).map((each) => ({ ...each })),
      ports: workspace === undefined ? [] : [...(openPorts?.list(workspace) ?? [])],
      hidden: hidden.map((path) => nameIn(workspace ?? "", path)),
    };
  },

  async "address.revoke"({ address, conversation }, { host }) {
    const { network, openPorts } = await host.ready();
    const [, port] = /^:(\d+)$/.exec(address) ?? [];
    if (port !== undefined) return { revoked: openPorts?.remove(host.workspace ?? "", Number(port)) ?? false };
    return { revoked: network?.revoke(address, conversation) ?? false };
  },
};

/** Returns a path inside a folder relative to the folder, and other paths as they are. */
function nameIn(folder: string, path: string): string {
  const inside = relative(folder, path);
  return inside === ".." || inside.startsWith("../") || isAbsolute(inside) ? path : inside;
}
