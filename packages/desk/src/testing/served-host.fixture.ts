import { join } from "node:path";
import { Agent, type AgentOptions, type NamedAgent, pathTo, Session, type Store } from "@banyan/core";
import { Approval, approvalModes, Hooks, PROGRAM, Worktrees } from "@banyan/host";
import type { ServedHost } from "../commands/workplace.ts";

/** No memory, no MCP servers, no sandbox, no snapshots. */
const NO_EQUIPMENT = {
  agents: [] as readonly NamedAgent[],
  snapshotsOf() {
    throw Object.assign(new Error("A test keeps no snapshots."), { name: "WorkspaceError" });
  },
} as unknown as Awaited<ReturnType<ServedHost["ready"]>>;

/** The error of the web tools for an unreachable host. */
const NO_WEB = Object.assign(new Error("A test asks nobody for pictures."), { name: "WebError", code: "network" });

/** The approval modes of a test, which decides whether `sandbox` is available. */
class ModesForTest {
  readonly #listeners = new Set<(reason?: string) => void>();
  readonly #approval: Approval;
  refusal: string | undefined = "A test has no sandbox.";

  constructor(approval: Approval) {
    this.#approval = approval;
  }

  get offered() {
    return approvalModes.filter((mode) => mode !== "sandbox" || this.refusal === undefined);
  }

  watch(listener: (reason?: string) => void) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Makes `sandbox` available, or not available for a reason. */
  refuse(reason: string | undefined): void {
    this.refusal = reason;
    for (const listener of this.#listeners) listener();
  }

  /** Ends the mode `sandbox` as if the sandbox was lost. */
  lost(reason: string): void {
    this.#approval.withdraw();
    for (const listener of this.#listeners) listener(reason);
  }
}

/** A host for tests: an agent and a real store, without settings, and without web access unless `picture` provides it. */
export function hostOf(
  store: Store,
  options: AgentOptions,
  models: Readonly<Record<string, AgentOptions["model"]>> = {},
  workspace = "/a/workspace",
  picture: ServedHost["picture"] = () => Promise.reject(NO_WEB),
) {
  let agent = new Agent({ name: "banyan", ...options });
  const approval = new Approval("ask");
  const modes = new ModesForTest(approval);
  const own = "id" in options.model ? options.model.id : "scripted/model";
  let name = own;
  const remembered: string[] = [];
  const with_ = (model: string) => {
    const driver = model === own ? options.model : models[model];
    if (driver) return agent.with({ model: driver });
    throw Object.assign(new Error(`There is no model ${model}.`), { name: "ModelChoiceError" });
  };
  const redact: ServedHost["redact"] = Object.assign((text: string) => text.replaceAll(/sk-\w+/g, "[redacted:key]"), {
    stream: () => {
      throw new Error("No test streams.");
    },
    watch: () => () => {},
  });
  const host: ServedHost = {
    hooks: new Hooks({ entries: {}, directory: workspace, env: {}, redact, mode: () => "ask" }),
    get agent() {
      return agent;
    },
    get approval() {
      return approval.mode;
    },
    get unasked() {
      return approval.unasked;
    },
    get carriedOut() {
      return approval.carriedOut;
    },
    carryOut: (conversation, how) => approval.carryOut(conversation, how),
    get model() {
      return { name, reason: "" };
    },
    store,
    workspace,
    project: undefined,
    home: workspace,
    env: process.env,
    whyNotReadIn: () => undefined,
    worktrees: new Worktrees({ folder: join(workspace, "..", "worktrees"), workspace, env: process.env }),
    ready: async () => NO_EQUIPMENT,
    newSession: (id, program) => {
      const labels = { cwd: workspace, agent: agent.name, ...(program && { [PROGRAM]: program }) };
      return Session.open(store, id, { create: true, labels });
    },
    openById: (id) => Session.open(store, id),
    taskAgent: async () => agent.with({ mode: "task" }),
    agentWith: async (model) => with_(model),
    async useModel(model) {
      agent = with_(model);
      name = model;
      return agent;
    },
    modes,
    async useApproval(mode, unasked, run) {
      approval.use(mode, { unasked, run, refusal: mode === "sandbox" ? modes.refusal : undefined });
    },
    remember: (rule, list) => remembered.push(list === "deny" ? `never ${rule}` : rule),
    listProviders: async () => [{ name: "scripted", usable: true, reason: "It is part of the test.", known: 1 }],
    listModels: async () => [
      { name: "scripted/model", contextSize: 1000 },
      ...Object.keys(models).map((other) => ({ name: other, sees: false })),
    ],
    redact,
    picture,
    contextParts: async (state, leaf) => [
      { kind: "conversation", source: "messages", tokens: pathTo(state, leaf).length, isExact: false },
    ],
    informed: (agent) => agent,
  };
  return { host, remembered, modes };
}
