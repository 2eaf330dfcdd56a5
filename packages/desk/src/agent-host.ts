import { type Agent, defineTool, OptionError, pathTo, Session, type Store } from "@banyan/core";
import { contextParts, type Equipment, ModelChoiceError, PROGRAM, RedactingStream, Worktrees } from "@banyan/host";
import type { CommandName } from "@banyan/protocol";
import type { ServedHost } from "./commands/workplace.ts";

/** The model list has the provider of the agent's own model only. */
const OWN_MODEL = "The model of the served agent.";

/** Commands that need a workspace, settings or the host's rules. */
const NEEDS_WORKSPACE: readonly CommandName[] = [
  "file.find",
  "file.undo",
  "file.compare",
  "file.rewind",
  "picture.read",
  "worktree.open",
  "worktree.list",
  "worktree.remove",
  "branch.bring",
  "approval.use",
  "equipment.read",
  "sandbox.read",
  "address.revoke",
];

/** The agent's tools and memory are its own options: the desk adds nothing. */
const NO_EQUIPMENT: Equipment = {
  tools: [],
  memory: undefined,
  useMemory() {},
  mcp: undefined,
  checks: undefined,
  instructions: [],
  agents: [],
  commands: [],
  skills: [],
  bring: defineTool({
    name: "bring",
    description: "Always fails: this server has no workspace, so it has no files.",
    input: { type: "object" },
    effects: "none",
    execute() {
      throw new OptionError("This server has no workspace, so it cannot bring files to another branch.");
    },
  }),
  backups: "",
  snapshotsOf() {
    throw new OptionError("This server has no workspace, so there are no snapshots.");
  },
  keyFiles: [],
  isConfined: async () => false,
  confinesIn: async () => undefined,
  sandbox: "none",
  network: undefined,
  openPorts: undefined,
  hiddenIn: async () => [],
  notices: [],
  tidy: async () => [],
  async [Symbol.asyncDispose]() {},
};

/** Leaves texts as they are: the library stores what users write. */
const asWritten: ServedHost["redact"] = Object.assign((text: string) => text, {
  stream: () => new RedactingStream({ find: () => [], open: () => undefined, replace: (text) => text }),
  watch: () => () => {},
});

/**
 * Makes a host for a developer's own agent. The conversations are in `store`. The host has no files, settings or rules.
 * The caller closes the store after the server or desk has stopped.
 *
 * @example
 * ```ts
 * const desk = new Desk({ host: agentHost(agent, sqliteStore({ directory: "conversations" })) });
 * ```
 */
export function agentHost(agent: Agent, store: Store): ServedHost {
  const { model: driver, modelNamed } = agent.options;
  const nameOf = (model: Agent["options"]["model"]) => ("id" in model ? String(model.id) : "model");
  const name = nameOf(driver);
  const [provider = name] = name.split("/", 1);
  const agentWith = async (wanted: string): Promise<Agent> => {
    if (wanted === name) return agent;
    if (modelNamed) return agent.with({ model: await modelNamed(wanted) });
    throw new ModelChoiceError(
      "unknown-model",
      `The agent "${agent.name}" has only the model ${name}, and cannot use ${wanted}.`,
    );
  };
  const listModels: ServedHost["listModels"] = async (wanted) => {
    if (wanted === provider) return [{ name }];
    throw new ModelChoiceError(
      "unknown-provider",
      `The agent "${agent.name}" has no models of the provider ${wanted}. Its model is ${name}.`,
    );
  };
  return {
    agent,
    agentWith,
    taskAgent: async () => agent.with({ mode: "task" }),
    informed: (one) => one,
    store,
    newSession: (id, program) => {
      const labels = { agent: agent.name, ...(program && { [PROGRAM]: program }) };
      return Session.open(store, id, { create: true, labels });
    },
    openById: (id) => Session.open(store, id),
    model: { name, reason: OWN_MODEL },
    listProviders: async () => [{ name: provider, usable: true, reason: OWN_MODEL, known: 1 }],
    listModels,
    useModel: async (wanted) => {
      throw new ModelChoiceError(
        "unknown-model",
        `Choose ${wanted} for one conversation. The agent's own model cannot change: it is ${name}.`,
      );
    },
    contextParts: (state, leaf) => {
      const path = pathTo(state, leaf);
      const holder = agent.holderOn(path) ?? agent;
      const { instructions, tools = [], model } = holder.options;
      const own = instructions === undefined ? [] : [{ source: holder.name, text: instructions }];
      return contextParts({ model: nameOf(model), instructions: own, tools, path });
    },
    without: modelNamed ? NEEDS_WORKSPACE : [...NEEDS_WORKSPACE, "model.use"],
    workspace: undefined,
    worktrees: new Worktrees({ folder: "", workspace: undefined, env: {} }),
    project: undefined,
    env: {},
    home: "",
    hooks: { prompt: async (_session, parts) => parts },
    ready: async () => NO_EQUIPMENT,
    redact: asWritten,
    whyNotReadIn: () => undefined,
    picture: () => Promise.reject(new OptionError("This server does not load pictures from the web.")),
    // The agent's own `permission` judges its calls.
    approval: "ask",
    modes: { offered: ["ask"], watch: () => () => {} },
    unasked: [],
    carriedOut: [],
    carryOut() {},
    useApproval: () =>
      Promise.reject(new OptionError("The `permission` option of the agent decides which calls need approval.")),
    remember: () => {
      throw new OptionError(
        "Allowed only this once: this server stores no rules. The `permission` option of the agent decides about later calls.",
      );
    },
  };
}
