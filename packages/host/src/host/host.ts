import {
  type Agent,
  type AgentOptions,
  type ConversationState,
  type Permission,
  pathTo,
  Session,
  type Store,
  type Tool,
} from "@banyan/core";
import type { ConversationSummary } from "@banyan/core/stores";
import type { EnvironmentVariables, KnownModel, ModelChoice, ProviderStatus } from "@banyan/models";
import { sqliteStore } from "@banyan/store/sqlite";
import type { WebPicture, WebPictures } from "@banyan/tools/web";
import { type ReadRefusal, WorkspaceSnapshots } from "@banyan/tools/workspace";
import {
  type AnswerStyle,
  findConversation,
  labelsOfBeginning,
  lastConversation,
} from "../conversations/conversations.ts";
import { settleRewinds } from "../conversations/rewind.ts";
import { contextKnown, type Drivers, driverModelId } from "../drivers/drivers.ts";
import { type Equipment, openEquipment, openSnapshots, snapshotsIn } from "../equipment/equipment.ts";
import { Hooks } from "../hooks/hooks.ts";
import { type ContextPart, contextParts } from "../instructions/context-parts.ts";
import { earlierTasks, type Instructions, instructionsText } from "../instructions/instructions.ts";
import { agentAsBegun, BEGAN, shownParts, surroundings, surroundingsPart } from "../instructions/surroundings.ts";
import { whyNotFetched } from "../permissions/address-subject.ts";
import { Approval, type ApprovedPlan, type PlanApproval, type UnattendedApproval } from "../permissions/approval.ts";
import { AvailableModes } from "../permissions/available-modes.ts";
import { deniedPatterns, hiddenPaths } from "../permissions/hidden-paths.ts";
import { narrowedRules } from "../permissions/permissions.ts";
import { pathScope } from "../permissions/place.ts";
import { readingRules } from "../permissions/reading-rule.ts";
import { type ApprovalMode, checkedRule, type Rules } from "../permissions/rule.ts";
import type { Directories } from "../places/directories.ts";
import type { ProjectPaths } from "../places/project.ts";
import { withRedactedTitles } from "../redaction/redacted-titles.ts";
import type { Redact } from "../redaction/redactor.ts";
import {
  type Configuration,
  changeSetting,
  rememberRule,
  settingNotices,
  userSettingsFile,
} from "../settings/index.ts";
import { projectHookCommands } from "../settings/listed-hooks.ts";
import { titleOnceThere } from "../title/title.ts";
import { permissionInWorktrees, readInPlace } from "../worktrees/judged-in-place.ts";
import type { Worktrees } from "../worktrees/worktrees.ts";
import { AGENT, hostAgent } from "./host-agent.ts";
import type { HostParts } from "./host-parts.ts";

/** The application around the engine on one machine: settings, models, tools, permissions and conversations. */
export class Host {
  /** The directory in which the agent works, without links. */
  readonly workspace: string;
  readonly places: Directories;
  /** The store of conversations. `close` closes it. */
  readonly store: Store;
  /** The paths of the project, if the project is trusted. */
  readonly project: ProjectPaths | undefined;
  /** All effective settings and their sources. */
  readonly configuration: Configuration;
  /** The user's environment variables and home folder. */
  readonly env: EnvironmentVariables;
  readonly home: string;
  /** Removes secrets from texts before the texts enter a conversation (S10). */
  readonly redact: Redact;
  /** The agent's instructions at the start of a conversation. */
  readonly instructions: Instructions;
  readonly worktrees: Worktrees;
  readonly hooks: Hooks;
  readonly modes: AvailableModes;
  /** Sentences for users about an approval mode of the settings that is not available. Filled by `ready`. */
  readonly withdrawn: string[] = [];
  readonly #approval: Approval;
  readonly #parts: Pick<HostParts, "canAsk" | "machine" | "network" | "notice" | "output" | "telemetry">;
  #permission: Permission;
  readonly #permissionWith: (rules: Rules) => Permission;
  #rules: Rules;
  #choice: ModelChoice;
  #agent: Agent;
  #equipment: Promise<Equipment> | undefined;
  #equipped: Equipment | undefined;
  readonly #titling = new AsyncDisposableStack();
  readonly #drivers: Drivers;
  #pictures: WebPictures | undefined;

  constructor(parts: HostParts) {
    const { places, workspace, project, env, home, canAsk, configuration, rules, redact, instructions } = parts;
    const { settings } = configuration;
    const servers = Object.keys(settings.mcpServers ?? {});
    this.#parts = parts;
    this.workspace = workspace;
    this.places = places;
    this.project = project;
    this.configuration = configuration;
    this.redact = redact;
    this.instructions = instructions;
    this.#approval = new Approval(settings.approval ?? "ask");
    const isUnconfined = settings.unconfined === true;
    this.modes = new AvailableModes(this.#approval, { workspace, isTrusted: project !== undefined, isUnconfined });
    this.env = env;
    this.home = home;
    this.#drivers = parts.drivers;
    this.store = withRedactedTitles(parts.store ?? sqliteStore({ directory: places.data, program: AGENT }), redact);
    this.#rules = rules;
    this.hooks = new Hooks({
      entries: settings.hooks ?? {},
      directory: workspace,
      env,
      redact,
      servers,
      theirs: projectHookCommands({ env, home, workspace, project }),
      hidden: async () => (await this.ready()).hiddenIn(workspace),
      tools: (agent, state) => (agent === AGENT ? (this.informed(this.#agent, state).options.tools ?? []) : []),
      mode: (conversation) => this.approvalIn(conversation),
    });
    const tools = () => this.#agent?.options.tools ?? [];
    const isOutside = (tool: Tool) => !isUnconfined && this.#drivers.runsOutside(tool);
    this.worktrees = parts.worktrees;
    this.#permissionWith = (all) =>
      this.#approval.judge(
        (mode) => permissionInWorktrees(this.worktrees, { workspace, mode, rules: all, tools, servers, canAsk, home }),
        isOutside,
      );
    this.#permission = this.#permissionWith(rules);
    this.#choice = parts.choice;
    this.#agent = hostAgent(parts, {
      modelNamed: (name) => this.#drivers.of(name),
      storeText: (text, at) => this.worktrees.storeText(text, at),
      permission: (request) => this.#permission(request),
      hooks: this.hooks,
    });
  }

  /** Returns a function that explains why the rules forbid reading a file (S21). Undefined without such rules. */
  whyNotReadIn(folder: string): ReadRefusal | undefined {
    const rulesFor = (at: string) => readingRules(pathScope(at, this.home), this.#rules, () => this.approval);
    return readInPlace(this.workspace, folder, rulesFor);
  }

  /** The agent with the last chosen model. Its tools are complete once `ready` has resolved. */
  get agent(): Agent {
    return this.#agent;
  }

  /** Resolves with the agent's equipment, and opens it once. Rejects for users if a required sandbox is missing. */
  ready(): Promise<Equipment> {
    this.#equipment ??= this.#equip().catch((error: unknown) => {
      // The next call may succeed.
      this.#equipment = undefined;
      throw error;
    });
    return this.#equipment;
  }

  async #equip(): Promise<Equipment> {
    const { places, store, workspace, project, configuration, redact } = this;
    const { telemetry } = this.#parts.telemetry;
    const equipment = await openEquipment({
      places,
      store,
      workspace,
      project,
      redact,
      env: this.env,
      home: this.home,
      settings: configuration.settings,
      network: this.#parts.network,
      canAsk: this.#parts.canAsk,
      worktrees: this.worktrees,
      limits: this.#approval.limited,
      whyNotReadIn: (folder) => this.whyNotReadIn(folder),
      hiddenIn: (folder) => hiddenPaths(this.#rules.deny, { workspace, folder, home: this.home, env: this.env }),
      whyNotFetched: (address, from) => whyNotFetched(address, from, this.#rules),
      resolveModel: (name, isNamed) => this.#drivers.forSubAgent(name, isNamed),
      notice: (sentence) => this.#parts.notice(sentence),
      traceparent: telemetry && (({ conversation, call }) => telemetry.traceparent(conversation.id, call)),
      onChange: () => {
        if (this.#equipped) this.#agent = this.#agent.with(this.#brought(this.#equipped));
      },
    });
    this.#equipped = equipment;
    const refusal = await this.modes.refusal(this.#approval.mode, equipment);
    if (refusal !== undefined) {
      this.withdrawn.push(`${refusal} Banyan asks before calls instead.`);
      this.modes.withdraw();
    }
    this.#equipAgent(equipment);
    this.worktrees.sweepGone(this.store).catch(() => {});
    return equipment;
  }

  #equipAgent(equipment: Equipment): void {
    const { memory } = equipment;
    this.#agent = this.#agent.with({ ...this.#brought(equipment), ...(memory ? { memory: { store: memory } } : {}) });
  }

  /** Turns memory on after the user agreed (S26), from the next turn on. Rejects with `SettingsError`. */
  async agreeToMemory(): Promise<void> {
    changeSetting(userSettingsFile(this), ["memory", "enabled"], true);
    const equipment = await this.ready();
    equipment.useMemory();
    this.#equipAgent(equipment);
  }

  /** The options that change when an MCP server starts or changes its tools. */
  #brought({ tools, instructions }: Equipment): Pick<AgentOptions, "tools" | "instructions"> {
    return { tools, instructions: instructionsText([...this.instructions.parts, ...instructions]) };
  }

  /** Returns the agent for a conversation, with the surroundings and server instructions of its beginning. */
  informed(agent: Agent, state: Pick<ConversationState, "labels" | "contents">): Agent {
    const surroundings = { own: this.instructions.parts, workspace: this.workspace, model: this.#choice.name };
    const servers = this.#equipped?.instructions ?? [];
    return agentAsBegun(agent, state, { ...surroundings, servers, settings: this.configuration.settings });
  }

  /** The agent for a task without a user, with the results of the last tasks in this directory (B39). */
  async taskAgent(): Promise<Agent> {
    const { memory } = await this.ready();
    const { instructions = "" } = this.#agent.options;
    const known = await earlierTasks(memory, this.workspace);
    return this.#agent.with({ mode: "task", instructions: `${instructions}${known}`, output: this.#parts.output });
  }

  /** Problems of settings, instructions and equipment, as sentences for users. */
  get notices(): readonly string[] {
    return [
      ...settingNotices(this.configuration, this.#rules),
      ...this.instructions.notices,
      ...(this.#equipped?.notices ?? []),
      ...this.withdrawn,
      ...this.#parts.telemetry.notices,
    ];
  }

  /** Returns the parts of the next request on a branch, each with its tokens. */
  async contextParts(state: ConversationState, leaf: string | null): Promise<ContextPart[]> {
    const equipment = await this.ready();
    await contextKnown(this.#agent.options.model);
    const { tools = [], instructions } = this.informed(this.#agent, state).options;
    const model = driverModelId(this.#agent.options.model) ?? this.#choice.name;
    const begun = surroundingsPart(state.labels[BEGAN], model);
    const parts = shownParts(instructions, [...this.instructions.parts, ...equipment.instructions, ...begun]);
    return contextParts({ model, instructions: parts, tools, path: pathTo(state, leaf) });
  }

  /** The approval mode of conversations without their own. */
  get approval(): ApprovalMode {
    return this.#approval.mode;
  }

  approvalIn(conversation: string | undefined): ApprovalMode {
    return this.#approval.in(conversation);
  }

  /** Conversations in which the user chose approval `all`. */
  get unasked(): readonly string[] {
    return this.#approval.unasked;
  }

  /** Conversations with an approved plan although approval is `plan`. */
  get carriedOut(): readonly ApprovedPlan[] {
    return this.#approval.carriedOut;
  }

  /** Records that a user approved the plan of a conversation, and how to carry it out. */
  carryOut(conversation: string, approval: PlanApproval): void {
    this.#approval.carryOut(conversation, approval);
  }

  /**
   * Changes the approval mode from the next call on: everywhere, or `edits` in one `run`; `all` in one conversation.
   * Rejects with `ApprovalError` if a mode is not available (S37), or for `all` without the user's consent (S27).
   */
  async useApproval(mode: ApprovalMode, unasked?: UnattendedApproval, run?: string): Promise<void> {
    const needsSandbox = mode === "sandbox" || mode === "all";
    const refusal = needsSandbox ? await this.modes.refusal(mode, await this.ready()) : undefined;
    this.#approval.use(mode, { unasked, run, refusal });
  }

  /** Returns the agent with this model. Rejects with `ModelChoiceError`. */
  async agentWith(model: string): Promise<Agent> {
    return model === this.#choice.name ? this.#agent : this.#agent.with({ model: await this.#drivers.of(model) });
  }

  /** The current model and the reason for this choice. */
  get model(): ModelChoice {
    return this.#choice;
  }

  /** Begins a conversation, or opens one by its id. `program`: a program began it. Rejects with `StoreError`. */
  async newSession(id?: string, program?: AnswerStyle): Promise<Session> {
    const { unattended = false } = this.#agent.options;
    const began = { cwd: this.workspace, agent: AGENT, [BEGAN]: this.redact(surroundings(this.workspace)) };
    const labels = { ...began, ...labelsOfBeginning({ machine: this.#parts.machine, unattended, program }) };
    return this.#opened(await Session.open(this.store, id, { create: true, labels }));
  }

  /** Opens a conversation by its id, the start of its id, or its title. Rejects with `ConversationError`. */
  async openSession(named: string): Promise<Session> {
    return this.openById((await findConversation(this.store, named)).id);
  }

  /** Rejects with `StoreError`. */
  async openById(id: string): Promise<Session> {
    return this.#opened(await Session.open(this.store, id));
  }

  async #opened(session: Session): Promise<Session> {
    const { places, worktrees, redact } = this;
    if (WorkspaceSnapshots.haveUnreported(snapshotsIn(places))) {
      const snapshotsAt = async (name?: string) => openSnapshots(places, await worktrees.folderOf(name, session.id));
      for (const sentence of await settleRewinds(session, { snapshotsAt, redact })) this.#parts.notice(sentence);
    }
    for (const { reason } of narrowedRules(session.allowed))
      this.#parts.notice(`A rule that you added to this conversation now allows fewer calls: ${reason}`);
    this.#parts.telemetry.telemetry?.follow(session);
    this.hooks.follow(session);
    this.worktrees.sweep(session.id, session.state).catch(() => {});
    const { titleModel } = this.configuration.settings;
    if (titleModel !== undefined && session.state.title === undefined)
      titleOnceThere(session, this.#drivers.model(titleModel), this.#titling);
    return session;
  }

  /**
   * The last written conversation of the workspace. With a user, conversations that a user began come first; `passed`
   * is then a later one without a user.
   */
  lastConversation(): ReturnType<typeof lastConversation> {
    return lastConversation(this.store, this.workspace, this.#agent.options);
  }

  /** Lists conversations, last written first. */
  listConversations(limit?: number): Promise<ConversationSummary[]> {
    return this.store.list({ limit });
  }

  /** Adds a rule to the user's settings and applies it. Throws `RuleError`, or `SettingsError` for a broken file. */
  remember(rule: string, list: "allow" | "deny" = "allow"): void {
    rememberRule(userSettingsFile(this), rule, list);
    this.#rules = { ...this.#rules, [list]: [...this.#rules[list], checkedRule(rule, list)] };
    this.#permission = this.#permissionWith(this.#rules);
    if (list === "deny" && deniedPatterns([checkedRule(rule, list)]).size > 0) this.#equipped?.mcp?.restartPrograms();
  }

  /** Fetches an image that a user requested, within the rules on `fetch` (S11). Rejects with `WebError`. */
  async picture(url: string, signal: AbortSignal): Promise<WebPicture> {
    const { WebPictures } = await import("@banyan/tools/web");
    this.#pictures ??= new WebPictures();
    return this.#pictures.read(url, { signal, whyNot: (address, from) => whyNotFetched(address, from, this.#rules) });
  }

  /** Lists the model providers, and whether each can be used now. */
  listProviders(): Promise<ProviderStatus[]> {
    return this.#drivers.providers();
  }

  /** Lists a provider's known models and those that its server `listed`. Rejects with `ModelChoiceError`. */
  listModels(provider: string, listed?: readonly string[]): Promise<KnownModel[]> {
    return this.#drivers.models(provider, listed);
  }

  /** Changes the model from the next turn on. Rejects with `ModelChoiceError`. */
  async useModel(name: string, reason = `Model: ${name}`): Promise<Agent> {
    const model = await this.#drivers.of(name);
    this.#choice = { name, reason };
    this.#agent = this.#agent.with({ model });
    return this.#agent;
  }

  /** Like `useModel`, but also saves the model in the settings. Rejects also with `SettingsError`. */
  async changeModel(name: string): Promise<Agent> {
    const agent = await this.useModel(name);
    changeSetting(userSettingsFile(this), ["model"], name);
    return agent;
  }

  /** Removes data that is older than the settings allow (B64). Resolves with sentences for users. */
  async tidy(): Promise<readonly string[]> {
    return (await this.ready()).tidy();
  }

  async close(): Promise<void> {
    await this.#titling.disposeAsync();
    await this.hooks.close();
    await this.#equipment?.then((equipment) => equipment[Symbol.asyncDispose]()).catch(() => {});
    await this.store.close();
    await this.#parts.telemetry.close?.();
  }
}
