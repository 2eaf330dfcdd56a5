import {
  Agent,
  type ConversationSummary,
  type Limits,
  type Message,
  type ModelDriver,
  type ModelSettings,
  type Permission,
  Session,
  type Store,
} from "@banyan/core";
import {
  type Environment,
  type KnownModel,
  listModels,
  listProviders,
  type ModelChoice,
  type ProviderStatus,
  type ResolveOptions,
  resolveModel,
} from "@banyan/models";
import { sqliteStore } from "@banyan/store/sqlite";
import { workspaceTools } from "@banyan/tools/workspace";
import { findConversation } from "./conversations.ts";
import type { Directories } from "./directories.ts";
import { type ContextPart, contextParts, type Instructions, instructionsText } from "./instructions/index.ts";
import { type ApprovalMode, parseRule, permissions, type Rules } from "./permissions/index.ts";
import type { ProjectPlaces } from "./project.ts";
import { type Redact, redactedTools, refuse } from "./redaction/index.ts";
import {
  type Configuration,
  changeSetting,
  describeFault,
  rememberRule,
  type Settings,
  userSettingsFile,
} from "./settings/index.ts";

/** The name of the agent, and of the program. */
export const AGENT = "banyan";

/** What a host is put together from. */
export interface HostParts {
  readonly places: Directories;
  /** Without links. */
  readonly workspace: string;
  /** A project that is trusted. */
  readonly project: ProjectPlaces | undefined;
  readonly env: Environment;
  readonly home: string;
  readonly canAsk: boolean;
  readonly configuration: Configuration;
  readonly rules: Rules;
  readonly redact: Redact;
  readonly instructions: Instructions;
  readonly choice: ModelChoice;
  readonly driver: ModelDriver;
}

/** The application around the engine on one machine. */
export class Host {
  /** The directory that the agent works in, without links. */
  readonly workspace: string;
  /** Where the program keeps its files. */
  readonly places: Directories;
  /** Where conversations are kept. Closed with the host. */
  readonly store: Store;
  /** The project around the workspace, when it is trusted. */
  readonly project: ProjectPlaces | undefined;
  /** All settings as they count, and where they come from. */
  readonly configuration: Configuration;
  /** Takes secrets out of what a person or a file says, before it gets into a conversation (S10). */
  readonly redact: Redact;
  /** What the agent is told before a conversation. */
  readonly instructions: Instructions;
  #approval: ApprovalMode;
  readonly #env: Environment;
  readonly #home: string;
  readonly #names: Pick<ResolveOptions, "aliases" | "overrides">;
  #permission: Permission;
  readonly #permissionWith: (rules: Rules) => Permission;
  #rules: Rules;
  #choice: ModelChoice;
  #agent: Agent;
  /** Models that conversations have of their own, by name. */
  readonly #models = new Map<string, ModelDriver>();

  constructor(parts: HostParts) {
    const { places, workspace, project, env, home, canAsk, configuration, rules, redact, instructions } = parts;
    const { settings } = configuration;
    this.workspace = workspace;
    this.places = places;
    this.project = project;
    this.configuration = configuration;
    this.redact = redact;
    this.instructions = instructions;
    this.#approval = settings.approval ?? "ask";
    this.#env = env;
    this.#home = home;
    this.#names = modelNames(settings);
    this.store = sqliteStore({ directory: places.data, program: AGENT });
    this.#rules = rules;
    this.#permissionWith = (all) => permissions({ workspace, mode: this.approval, rules: all, canAsk, home });
    this.#permission = this.#permissionWith(rules);
    this.#choice = parts.choice;
    const tools = workspaceTools({ root: workspace, protected: [places.config, places.data], refuse });
    this.#agent = new Agent({
      name: AGENT,
      model: parts.driver,
      instructions: instructionsText(instructions.parts),
      tools: redactedTools(tools, redact),
      settings: modelSettings(settings),
      limits: limitsOf(settings),
      // Rules that a person adds count from the next call on.
      permission: (request) => this.#permission(request),
    });
  }

  /** With the model chosen last. */
  get agent(): Agent {
    return this.#agent;
  }

  /** What is wrong with settings and instructions and was left out, in sentences for a person. */
  get notices(): readonly string[] {
    return [...this.configuration.faults.map(describeFault), ...this.instructions.notices];
  }

  /** What the model is sent after a path of a conversation, part by part, with the tokens of each. */
  contextParts(path: readonly Message[]): Promise<ContextPart[]> {
    const { model, tools = [] } = this.#agent.options;
    // A short name does not tell the tokenizer.
    const name = "id" in model ? String(model.id) : this.#choice.name;
    return contextParts({ model: name, instructions: this.instructions.parts, tools, path });
  }

  /** What is asked of a person. */
  get approval(): ApprovalMode {
    return this.#approval;
  }

  /** Asks a person more, or less, from the next call on, in this process. */
  useApproval(mode: ApprovalMode): void {
    this.#approval = mode;
    this.#permission = this.#permissionWith(this.#rules);
  }

  /** The agent with another model, for a conversation that has one of its own. Rejects with `ModelChoiceError`. */
  async agentWith(model: string): Promise<Agent> {
    if (model === this.#choice.name) return this.#agent;
    const driver = this.#models.get(model) ?? (await resolveModel(model, { env: this.#env, ...this.#names }));
    this.#models.set(model, driver);
    return this.#agent.with({ model: driver });
  }

  /** Which model it is, and why. */
  get model(): ModelChoice {
    return this.#choice;
  }

  /** Begins a conversation. Rejects with `StoreError`. */
  newSession(): Promise<Session> {
    return Session.open(this.store, undefined, { labels: { cwd: this.workspace, agent: AGENT } });
  }

  /** Opens a conversation that a person names by its id, the beginning of it, or its title. Rejects with `ConversationError` or `StoreError`. */
  async openSession(named: string): Promise<Session> {
    return Session.open(this.store, (await findConversation(this.store, named)).id);
  }

  /** The conversation that was written to last, among those of a directory: the workspace, unless another is named. */
  async lastConversation(cwd = this.workspace): Promise<ConversationSummary | undefined> {
    const [last] = await this.store.list({ labels: { cwd }, limit: 1 });
    return last;
  }

  /** The last written first. */
  listConversations(limit?: number): Promise<ConversationSummary[]> {
    return this.store.list({ limit });
  }

  /**
   * Allows for good what a rule covers, in this process and all later ones. Throws `RuleError`, or `SettingsError` when
   * the settings file is broken.
   */
  remember(rule: string): void {
    rememberRule(this.#settingsFile, rule);
    this.#rules = { ...this.#rules, allow: [...this.#rules.allow, parseRule(rule)] };
    this.#permission = this.#permissionWith(this.#rules);
  }

  /** Every provider, and whether it can be used now. */
  listProviders(): Promise<ProviderStatus[]> {
    return listProviders({ env: this.#env });
  }

  /** The models of a provider that are known, with what they cost and hold. Rejects with `ModelChoiceError`. */
  listModels(provider: string): Promise<KnownModel[]> {
    return listModels(provider, this.#names);
  }

  /** Takes another model from the next turn on. Rejects with `ModelChoiceError`; then everything stays as it is. */
  async useModel(name: string, reason = `Using ${name}.`): Promise<Agent> {
    const model = await resolveModel(name, { env: this.#env, ...this.#names });
    this.#choice = { name, reason };
    this.#agent = this.#agent.with({ model });
    return this.#agent;
  }

  /** The same, and for later conversations too. Rejects also with `SettingsError`. */
  async changeModel(name: string): Promise<Agent> {
    const agent = await this.useModel(name);
    changeSetting(this.#settingsFile, ["model"], name);
    return agent;
  }

  async close(): Promise<void> {
    await this.store.close();
  }

  get #settingsFile(): string {
    return userSettingsFile({ env: this.#env, home: this.#home });
  }
}

/** What the user knows of models. */
export function modelNames({ aliases = {}, models = {} }: Settings): Pick<ResolveOptions, "aliases" | "overrides"> {
  return { aliases, overrides: models };
}

function modelSettings({ temperature, maxTokens }: Settings): ModelSettings {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
}

function limitsOf({ limits = {} }: Settings): Limits {
  const { time, ...counts } = limits;
  return { ...counts, ...(time === undefined ? {} : { time: time * 1_000 }) };
}
