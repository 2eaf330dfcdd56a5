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
import type { Environment, KnownModel, ModelChoice, ProviderStatus } from "@banyan/models";
import { sqliteStore } from "@banyan/store/sqlite";
import type { WebPicture, WebPictures } from "@banyan/tools/web";
import type { WhyNotRead } from "@banyan/tools/workspace";
import { findConversation, labelsOfBeginning, lastFor, type ProgramAnswers } from "./conversations/conversations.ts";
import { contextKnown, type Drivers, idOf } from "./drivers/drivers.ts";
import { earlierTasks } from "./equipment/earlier-tasks.ts";
import { type Equipment, openEquipment } from "./equipment/equipment.ts";
import { Hooks } from "./hooks/hooks.ts";
import { AGENT, hostAgent } from "./host-agent.ts";
import type { HostParts } from "./host-parts.ts";
import { type ContextPart, contextParts } from "./instructions/context-parts.ts";
import { type Instructions, instructionsText } from "./instructions/instructions.ts";
import { asBegan, BEGAN, surroundings, surroundingsPart, toldParts } from "./instructions/surroundings.ts";
import { whyNotFetched } from "./permissions/address-subject.ts";
import { Approval, type CarriedOut, NEEDS_SANDBOX, type PlanApproval, type Unasked } from "./permissions/approval.ts";
import { type ApprovalMode, narrowedRules } from "./permissions/permissions.ts";
import { pathScope } from "./permissions/place.ts";
import { readingRules } from "./permissions/reading.ts";
import { checkedRule, type Rules } from "./permissions/rule.ts";
import type { Directories } from "./places/directories.ts";
import type { ProjectPlaces } from "./places/project.ts";
import { withRedactedTitles } from "./redaction/redacted-titles.ts";
import type { Redact } from "./redaction/redactor.ts";
import { type Configuration, changeSetting, rememberRule, settingNotices, userSettingsFile } from "./settings/index.ts";
import { titleOnceThere } from "./title/title.ts";
import { judgedInPlace, readInPlace } from "./worktrees/judged-in-place.ts";
import type { Worktrees } from "./worktrees/worktrees.ts";

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
  /** The variables of whoever started it, and their home. */
  readonly env: Environment;
  readonly home: string;
  /** Takes secrets out of what a person or a file says, before it gets into a conversation (S10). */
  readonly redact: Redact;
  /** What the agent is told before a conversation. */
  readonly instructions: Instructions;
  /** Files that branches have for themselves. */
  readonly worktrees: Worktrees;
  /** Commands of the person's own at points of a conversation. */
  readonly hooks: Hooks;
  readonly #approval: Approval;
  readonly #parts: Pick<HostParts, "machine" | "notice" | "output">;
  readonly #telemetry: HostParts["telemetry"];
  #permission: Permission;
  readonly #permissionWith: (rules: Rules) => Permission;
  readonly #whyNotReadIn: (folder: string) => WhyNotRead | undefined;
  #rules: Rules;
  #choice: ModelChoice;
  #agent: Agent;
  #equipment: Promise<Equipment> | undefined;
  #equipped: Equipment | undefined;
  /** What the settings want and cannot be had, in sentences. */
  readonly #withdrawn: string[] = [];
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
    this.#telemetry = parts.telemetry;
    this.#approval = new Approval(settings.approval ?? "ask");
    this.env = env;
    this.home = home;
    this.#drivers = parts.drivers;
    this.store = withRedactedTitles(parts.store ?? sqliteStore({ directory: places.data, program: AGENT }), redact);
    this.#rules = rules;
    this.hooks = new Hooks({
      ...{ entries: settings.hooks ?? {}, directory: workspace, env, redact, servers },
      tools: (agent, state) => (agent === AGENT ? (this.informed(this.#agent, state).options.tools ?? []) : []),
      mode: (conversation) => this.approvalIn(conversation),
    });
    const tools = () => this.#agent?.options.tools ?? [];
    const isOutside = (tool: Tool) => settings.unconfined !== true && this.#drivers.runsOutside(tool);
    this.worktrees = parts.worktrees;
    this.#permissionWith = (all) =>
      this.#approval.judge(
        (mode) => judgedInPlace(this.worktrees, { workspace, mode, rules: all, tools, servers, canAsk, home }),
        isOutside,
      );
    this.#permission = this.#permissionWith(rules);
    this.#whyNotReadIn = (folder) => readingRules(pathScope(folder, home), rules, () => this.approval);
    this.#choice = parts.choice;
    this.#agent = hostAgent(parts, {
      modelNamed: (name) => this.#drivers.of(name),
      storeText: (text, at) => this.worktrees.storeText(text, at),
      permission: (request) => this.#permission(request),
      hooks: this.hooks,
    });
  }

  /**
   * Why the content of a file of a folder may not be told, by the rules (S21): of the workspace, or of a worktree; undefined
   * when none speaks of reading.
   */
  whyNotReadIn(folder: string): WhyNotRead | undefined {
    return readInPlace(this.workspace, folder, this.#whyNotReadIn);
  }

  /** With the model chosen last; with all its tools once the host is `ready`. */
  get agent(): Agent {
    return this.#agent;
  }

  /**
   * Resolves with what the agent works with, when that is there: before the first turn. Opened once, and again after it failed. Rejects with an error
   * for a person when a sandbox is required and there is none.
   */
  ready(): Promise<Equipment> {
    this.#equipment ??= this.#equip().catch((error: unknown) => {
      // What is missing, such as the folder, may be there the next time.
      this.#equipment = undefined;
      throw error;
    });
    return this.#equipment;
  }

  async #equip(): Promise<Equipment> {
    const { places, store, workspace, project, configuration, redact } = this;
    const { telemetry } = this.#telemetry;
    const equipment = await openEquipment({
      ...{ places, store, workspace, project, redact, env: this.env, home: this.home },
      settings: configuration.settings,
      worktrees: this.worktrees,
      whyNotReadIn: (folder) => this.whyNotReadIn(folder),
      whyNotFetched: (address, from) => whyNotFetched(address, from, this.#rules),
      resolveModel: (name, isNamed) => this.#drivers.forSubAgent(name, isNamed),
      traceparent: telemetry && (({ conversation, call }) => telemetry.traceparent(conversation.id, call)),
      onChange: () => {
        // What servers offer from now on, the agent has from its next turn on.
        if (this.#equipped) this.#agent = this.#agent.with(this.#brought(this.#equipped));
      },
    });
    this.#equipped = equipment;
    if (this.#approval.mode === "all" && !this.#isConfined(equipment)) {
      this.#approval.withdraw();
      this.#withdrawn.push(`${NEEDS_SANDBOX} Calls are asked about.`);
    }
    this.#equipAgent(equipment);
    this.worktrees.sweepGone(this.store).catch(() => {});
    return equipment;
  }

  #equipAgent(equipment: Equipment): void {
    const { memory } = equipment;
    this.#agent = this.#agent.with({ ...this.#brought(equipment), ...(memory ? { memory: { store: memory } } : {}) });
  }

  /**
   * The user agrees to memory (S26): it is used from the next turn on, here and at later starts. Rejects with
   * `SettingsError` when the settings file is broken.
   */
  async agreeToMemory(): Promise<void> {
    changeSetting(this.#settingsFile, ["memory", "enabled"], true);
    const equipment = await this.ready();
    equipment.useMemory();
    this.#equipAgent(equipment);
  }

  /** What changes for an agent when an MCP server comes, or offers something else. */
  #brought({ tools, instructions }: Equipment): Pick<AgentOptions, "tools" | "instructions"> {
    return { tools, instructions: instructionsText([...this.instructions.parts, ...instructions]) };
  }

  /** An agent of this host as it works in a conversation: told what was so when that began. */
  informed(agent: Agent, state: Pick<ConversationState, "labels" | "contents">): Agent {
    const told = { own: this.instructions.parts, workspace: this.workspace, model: this.#choice.name };
    const servers = this.#equipped?.instructions ?? [];
    return asBegan(agent, state, { ...told, servers, settings: this.configuration.settings });
  }

  /** The agent as it works on a task by itself: it knows what the last tasks in this directory came to (B39). */
  async taskAgent(): Promise<Agent> {
    const { memory } = await this.ready();
    const { instructions = "" } = this.#agent.options;
    const known = await earlierTasks(memory, this.workspace);
    return this.#agent.with({ mode: "task", instructions: `${instructions}${known}`, output: this.#parts.output });
  }

  /** What is wrong with settings, instructions and what the agent works with, and was left out, in sentences for a person. */
  get notices(): readonly string[] {
    return [
      ...settingNotices(this.configuration, this.#rules),
      ...this.instructions.notices,
      ...(this.#equipped?.notices ?? []),
      ...this.#withdrawn,
      ...this.#telemetry.notices,
    ];
  }

  /** What the model is sent on a branch of a conversation, part by part, with the tokens of each. */
  async contextParts(state: ConversationState, leaf: string | null): Promise<ContextPart[]> {
    const equipment = await this.ready();
    await contextKnown(this.#agent.options.model);
    const { tools = [], instructions } = this.informed(this.#agent, state).options;
    const model = idOf(this.#agent.options.model) ?? this.#choice.name;
    const begun = surroundingsPart(state.labels[BEGAN], model);
    const parts = toldParts(instructions, [...this.instructions.parts, ...equipment.instructions, ...begun]);
    return contextParts({ model, instructions: parts, tools, path: pathTo(state, leaf) });
  }

  /** What is asked of a person, where a conversation has no mode of its own. */
  get approval(): ApprovalMode {
    return this.#approval.mode;
  }

  /** The same in one conversation. */
  approvalIn(conversation: string | undefined): ApprovalMode {
    return this.#approval.in(conversation);
  }

  /** The conversations whose person said that nothing is to be asked there. */
  get unasked(): readonly string[] {
    return this.#approval.unasked;
  }

  /** The conversations whose plan is carried out although approval is `plan`. */
  get carriedOut(): readonly CarriedOut[] {
    return this.#approval.carriedOut;
  }

  /** A person allowed the plan that was handed in there, and chose how it is carried out. */
  carryOut(conversation: string, approval: PlanApproval): void {
    this.#approval.carryOut(conversation, approval);
  }

  /**
   * Asks a person more, or less, from the next call on, in this process: `plan`, `ask` and `edits` everywhere, `all` in one
   * conversation, and `edits` in one run where it is named. Rejects with `ApprovalError` for `all` without a yes, or without
   * a sandbox (S27).
   */
  async useApproval(mode: ApprovalMode, unasked?: Unasked, run?: string): Promise<void> {
    const isConfined = mode !== "all" || this.#isConfined(await this.ready());
    this.#approval.use(mode, { unasked, run, isConfined });
  }

  /** Whether commands run in a sandbox, or the user wants none for `all`. */
  #isConfined({ isConfined }: Equipment): boolean {
    return isConfined || this.configuration.settings.unconfined === true;
  }

  /** The agent with another model, for a conversation that has a model of its own. Rejects with `ModelChoiceError`. */
  async agentWith(model: string): Promise<Agent> {
    return model === this.#choice.name ? this.#agent : this.#agent.with({ model: await this.#drivers.of(model) });
  }

  /** Which model it is, and why. */
  get model(): ModelChoice {
    return this.#choice;
  }

  /**
   * Begins a conversation; one of an id that is there is opened. `program`: a program begins it, and lists of users leave it
   * out. Rejects with `StoreError`.
   */
  async newSession(id?: string, program?: ProgramAnswers): Promise<Session> {
    const { unattended = false } = this.#agent.options;
    const began = { cwd: this.workspace, agent: AGENT, [BEGAN]: this.redact(surroundings(this.workspace)) };
    const labels = { ...began, ...labelsOfBeginning({ machine: this.#parts.machine, unattended, program }) };
    return this.#followed(await Session.open(this.store, id, { create: true, labels }));
  }

  /** Opens a conversation that a person names by its id, the beginning of it, or its title. Rejects with `ConversationError` or `StoreError`. */
  async openSession(named: string): Promise<Session> {
    return this.openById((await findConversation(this.store, named)).id);
  }

  /** Opens the conversation of this id. Rejects with `StoreError`. */
  async openById(id: string): Promise<Session> {
    return this.#followed(await Session.open(this.store, id));
  }

  #followed(session: Session): Session {
    for (const { reason } of narrowedRules(session.allowed))
      this.#parts.notice(`You allowed in this conversation: ${reason}`);
    this.#telemetry.telemetry?.follow(session);
    this.hooks.follow(session);
    this.worktrees.sweep(session.id, session.state).catch(() => {});
    // Name a conversation without a title, if the settings name a model for that (B54).
    const { titleModel } = this.configuration.settings;
    if (titleModel !== undefined && session.state.title === undefined)
      titleOnceThere(session, this.#drivers.model(titleModel), this.#titling);
    return session;
  }

  /**
   * The conversation of the workspace that was written to last. Where a person can be asked, one that a person began comes
   * before all that were begun where nobody could be, and `passed` is a later one of these.
   */
  lastConversation(): ReturnType<typeof lastFor> {
    return lastFor(this.store, this.workspace, this.#agent.options);
  }

  /** The last written first. */
  listConversations(limit?: number): Promise<ConversationSummary[]> {
    return this.store.list({ limit });
  }

  /**
   * Allows for good what a rule covers, or denies it, in this process and all later ones. Throws `RuleError`, or
   * `SettingsError` when the settings file is broken.
   */
  remember(rule: string, list: "allow" | "deny" = "allow"): void {
    rememberRule(this.#settingsFile, rule, list);
    this.#rules = { ...this.#rules, [list]: [...this.#rules[list], checkedRule(rule, list)] };
    this.#permission = this.#permissionWith(this.#rules);
  }

  /**
   * A picture of the web for a person who asked for it by its address, as far as rules on `fetch` allow it (S11). Rejects with
   * `WebError`, or with the signal's reason.
   */
  async picture(url: string, signal: AbortSignal): Promise<WebPicture> {
    const { WebPictures } = await import("@banyan/tools/web");
    this.#pictures ??= new WebPictures();
    return this.#pictures.read(url, { signal, whyNot: (address, from) => whyNotFetched(address, from, this.#rules) });
  }

  /** Every provider, and whether it can be used now. */
  listProviders(): Promise<ProviderStatus[]> {
    return this.#drivers.providers();
  }

  /** The models of a provider that are known and that its server `listed`, with what they cost, hold and see. Rejects with `ModelChoiceError`. */
  listModels(provider: string, listed?: readonly string[]): Promise<KnownModel[]> {
    return this.#drivers.models(provider, listed);
  }

  /** Takes another model from the next turn on. Rejects with `ModelChoiceError`; then everything stays as it is. */
  async useModel(name: string, reason = `Model: ${name}`): Promise<Agent> {
    const model = await this.#drivers.of(name);
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

  /**
   * Removes what has grown too old since the start, as the settings say (B64): for who runs for days. Returns what, in
   * sentences for a person. Rejects as `ready` does.
   */
  async tidy(): Promise<readonly string[]> {
    return (await this.ready()).tidy();
  }

  async close(): Promise<void> {
    await this.#titling.disposeAsync();
    await this.hooks.close();
    // One that was not there in time goes as it comes.
    await this.#equipment?.then((equipment) => equipment[Symbol.asyncDispose]()).catch(() => {});
    await this.store.close();
    await this.#telemetry.close?.();
  }

  get #settingsFile(): string {
    return userSettingsFile({ env: this.env, home: this.home });
  }
}
