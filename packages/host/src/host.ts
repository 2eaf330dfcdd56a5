import { accessSync, constants } from "node:fs";
import {
  Agent,
  type ConversationSummary,
  type Limits,
  type ModelDriver,
  type ModelSettings,
  type Permission,
  Session,
  type Store,
} from "@banyan/core";
import {
  chooseModel,
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
import { openWorkspace, WorkspaceError, workspaceTools } from "@banyan/tools/workspace";
import { findConversation } from "./conversations.ts";
import { type Directories, directories } from "./directories.ts";
import { startInstructions } from "./instructions.ts";
import {
  type ApprovalMode,
  joinRules,
  parseRule,
  permissions,
  type Rules,
  readRuleFile,
  rememberRule,
  rulesFrom,
} from "./permissions/index.ts";
import { changeSettings, readSettings, type Settings } from "./settings/index.ts";
import { settingsFile } from "./user-settings.ts";

const AGENT = "banyan";

/** What a command line says; it counts more than the settings. */
export interface HostFlags {
  /** `provider/model`. */
  readonly model?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly limits?: Limits;
  /** Permission rules, as text. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** A file with more of them. */
  readonly rules?: string;
  readonly approval?: ApprovalMode;
}

/** Where a host works, for whom, and with which settings of the moment. */
export interface HostOptions {
  /** The directory to work in. */
  readonly cwd: string;
  readonly env: Environment;
  readonly home: string;
  readonly flags?: HostFlags;
  /** Whether a person can be asked; where nobody can, what would be asked is denied. */
  readonly canAsk: boolean;
  /** Ends the search for a model. */
  readonly signal?: AbortSignal;
}

/**
 * Reads settings and rules, looks at the workspace, chooses a model and puts an agent together. Opens no conversation.
 * Rejects with `SettingsError`, `RuleFileError`, `RuleError`, `WorkspaceError` or `ModelChoiceError`, each with one
 * sentence for a person.
 */
export async function openHost(options: HostOptions): Promise<Host> {
  const { cwd, env, home, flags = {}, canAsk, signal } = options;
  const places = directories(env, home);
  const settings = readSettings(settingsFile(places));
  const rules = joinRules(
    rulesFrom(settings.permissions),
    flags.rules === undefined ? rulesFrom() : readRuleFile(flags.rules),
    rulesFrom({ allow: [...(flags.allow ?? [])], deny: [...(flags.deny ?? [])] }),
  );
  const workspace = readableWorkspace(cwd);
  const choice = await chooseModel({ flag: flags.model, setting: settings.model, env, signal });
  const driver = await resolveModel(choice.name, { env, ...modelNames(settings) });
  return new Host({ places, settings, rules, workspace, env, home, flags, canAsk, choice, driver });
}

interface Parts {
  readonly places: Directories;
  readonly settings: Settings;
  readonly rules: Rules;
  readonly workspace: string;
  readonly env: Environment;
  readonly home: string;
  readonly flags: HostFlags;
  readonly canAsk: boolean;
  readonly choice: ModelChoice;
  readonly driver: ModelDriver;
}

/** The application around the engine on one machine. */
export class Host {
  /** The directory that the agent works in, without links. */
  readonly workspace: string;
  /** What is asked of a person. */
  readonly approval: ApprovalMode;
  readonly #places: Directories;
  readonly #env: Environment;
  readonly #names: Pick<ResolveOptions, "aliases" | "overrides">;
  readonly #store: Store;
  #permission: Permission;
  readonly #permissionWith: (rules: Rules) => Permission;
  #rules: Rules;
  #choice: ModelChoice;
  #agent: Agent;

  constructor(parts: Parts) {
    const { places, settings, rules, workspace, env, home, flags, canAsk, choice, driver } = parts;
    this.workspace = workspace;
    this.approval = flags.approval ?? settings.approval ?? "ask";
    this.#places = places;
    this.#env = env;
    this.#names = modelNames(settings);
    this.#store = sqliteStore({ directory: places.data, program: AGENT });
    this.#rules = rules;
    this.#permissionWith = (all) => permissions({ workspace, mode: this.approval, rules: all, canAsk, home });
    this.#permission = this.#permissionWith(rules);
    this.#choice = choice;
    this.#agent = new Agent({
      name: AGENT,
      model: driver,
      instructions: startInstructions({ name: AGENT, workspace }),
      tools: workspaceTools({ root: workspace, protected: [places.config, places.data] }),
      settings: modelSettings(settings, flags),
      limits: flags.limits,
      // Rules that a person adds count from the next call on.
      permission: (request) => this.#permission(request),
    });
  }

  /** With the model chosen last. */
  get agent(): Agent {
    return this.#agent;
  }

  /** Which model it is, and why. */
  get model(): ModelChoice {
    return this.#choice;
  }

  /** Begins a conversation. Rejects with `StoreError`. */
  newSession(): Promise<Session> {
    return Session.open(this.#store, undefined, { labels: { cwd: this.workspace, agent: AGENT } });
  }

  /** Opens a conversation that a person names by its id, the beginning of it, or its title. Rejects with `ConversationError` or `StoreError`. */
  async openSession(named: string): Promise<Session> {
    return Session.open(this.#store, (await findConversation(this.#store, named)).id);
  }

  /** The conversation that was written to last, among those of a directory: the workspace, unless another is named. */
  async lastConversation(cwd = this.workspace): Promise<ConversationSummary | undefined> {
    const [last] = await this.#store.list({ labels: { cwd }, limit: 1 });
    return last;
  }

  /** The last written first. */
  listConversations(limit?: number): Promise<ConversationSummary[]> {
    return this.#store.list({ limit });
  }

  /**
   * Allows for good what a rule covers, in this process and all later ones. Throws `RuleError`, or `RuleFileError` when
   * the settings file is broken.
   */
  remember(rule: string): void {
    rememberRule(settingsFile(this.#places), rule);
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
    changeSettings(settingsFile(this.#places), { model: name });
    return agent;
  }

  async close(): Promise<void> {
    await this.#store.close();
  }
}

function readableWorkspace(directory: string): string {
  const { root } = openWorkspace(directory);
  try {
    accessSync(root, constants.R_OK | constants.X_OK);
    return root;
  } catch (error) {
    throw unreadable(root, error);
  }
}

function unreadable(root: string, cause: unknown): WorkspaceError {
  return new WorkspaceError("root", `The workspace ${root} cannot be read. Allow it, or name another folder.`, {
    cause,
  });
}

/** What the user knows of models. */
function modelNames({ aliases = {}, models = {} }: Settings): Pick<ResolveOptions, "aliases" | "overrides"> {
  return { aliases, overrides: models };
}

function modelSettings(settings: Settings, flags: HostFlags): ModelSettings {
  const temperature = flags.temperature ?? settings.temperature;
  const maxTokens = flags.maxTokens ?? settings.maxTokens;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
}
