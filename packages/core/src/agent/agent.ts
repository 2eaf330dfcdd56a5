import type { UserContent } from "../conversation/checked/user-content.ts";
import { createId } from "../conversation/id.ts";
import type { Message } from "../conversation/message.ts";
import { checkArguments, OptionError, refuseUnknown } from "../conversation/option-names.ts";
import type { Json } from "../conversation/part.ts";
import { turnWaitingFor } from "../conversation/tree/asking-run.ts";
import type { ModelSettings } from "../ports/model.ts";
import type { TaskAgent, Tool } from "../ports/tool.ts";
import type { Answer } from "../ports/verdict.ts";
import type { Limits } from "../run/limits.ts";
import type { TurnAgent } from "../run/run.ts";
import { stillAskedError } from "../session/error.ts";
import { Session } from "../session/session.ts";
import type { Turn } from "../turn/turn.ts";
import { Chat, type ChatAgent, runChatTurns } from "./chat.ts";
import {
  ANSWER,
  type AnswerOptions,
  type ChatOptions,
  type Conversation,
  checkSession,
  SEND,
  type SendOptions,
  whenOnlyWaiting,
} from "./chat-options.ts";
import { checkAgentOptions } from "./check-options.ts";
import { type CompactOptions, compactBranch } from "./compact.ts";
import { type AgentToolOptions, taskTool } from "./control/agent-tool.ts";
import type { CountTokensOptions, RequestTokens } from "./count-tokens.ts";
import { type Directive, resume, say } from "./directive.ts";
import { readyAgent } from "./prepare.ts";
import { checkSuccessors, optionsAfter, optionsWithin } from "./sub-agent.ts";
import { successfulTurn } from "./turn-error.ts";
import type { TurnOptions } from "./turn-options.ts";

/**
 * Function that runs after every turn, with the conversation and the agent of the turn. It returns the next
 * `agent.chat(...)`, of any agent. That chat continues in the same stream and session. If the function returns nothing,
 * the chat ends. The function can wait for a user for days (B2). See {@link AgentOptions}.
 */
export type TurnHandler = (
  conversation: Conversation,
  agent: Agent,
  turn: Turn,
) => Chat<unknown> | undefined | void | Promise<Chat<unknown> | undefined | void>;

/**
 * Options of an agent. Only the model is required.
 * @example new Agent({ model, onTurn: (_, agent, turn) => (turn.steps < 9 ? agent.chat(say("Go on.")) : undefined) });
 */
export interface AgentOptions<out Result = Json | undefined, in out Context = unknown>
  extends TurnOptions<Result, Context> {
  /** Decides after each turn whether and how the conversation continues. Default: a chat ends after one turn. */
  readonly onTurn?: TurnHandler | undefined;
}

/** Requires the option `context` if a tool needs a context. */
type WithContext<Context> = unknown extends Context ? unknown : { readonly context: Context };

/**
 * An immutable agent. Its constructor checks only the names of the options, the model, the memory and the tools. The
 * first turn checks the values of the other options.
 */
export class Agent<out Result = Json | undefined, out Context = unknown> implements ChatAgent {
  readonly options: AgentOptions<Result>;
  #ready: TurnAgent | undefined;
  /** An agent that differs only in its turn handler. */
  // biome-ignore lint/style/useReadonlyClassProperties: `with` sets it, of the agent that it makes.
  #alike: Agent<unknown> | undefined;
  /** Other agents, prepared as sub-agents of this agent. */
  #subAgents: WeakMap<Agent<unknown>, TurnAgent> | undefined;
  // biome-ignore lint/style/useReadonlyClassProperties: Other agents that continue a turn of this agent, since the first.
  #successors: WeakMap<Agent<unknown>, Agent<unknown>> | undefined;
  /** The agent whose conversation this agent continues. */
  // biome-ignore lint/style/useReadonlyClassProperties: `handedTo` and `with` set it, of the agent that they make.
  #first: Agent<unknown> | undefined;

  /** Throws `OptionError` for an invalid option, and `ToolDefinitionError` for an unusable tool or schema. */
  constructor(options: AgentOptions<Result, Context> & WithContext<NoInfer<Context>>) {
    checkAgentOptions(options as TurnOptions);
    // The type of the context has been checked, and code that takes any agent need not know the type.
    this.options = Object.freeze({ ...options }) as TurnOptions as AgentOptions<Result>;
    Object.freeze(this);
  }

  /** The prepared agent for turns, created once. Throws for invalid options. @internal */
  get ready(): TurnAgent {
    // All agents that differ only in the turn handler share the prepared agent.
    if (this.#ready) return this.#ready;
    if (!this.#alike) checkSuccessors(this);
    this.#ready = this.#alike
      ? this.#alike.ready
      : readyAgent(this, (model) => (model ? this.with({ model }) : this).ready, {
          subAgent: (agent) => this.#withSubAgent(agent),
          handedTo: (agent) => this.handedTo(agent).ready,
          holderOn: (path) => this.holderOn(path)?.ready,
        });
    return this.#ready;
  }

  #withSubAgent(agent: TaskAgent): TurnAgent {
    if (!(agent instanceof Agent)) throw new OptionError("The agent of a task must be an Agent: new Agent({ ... }).");
    const known = this.#subAgents?.get(agent) ?? agent.with(optionsWithin(agent.options, this.options)).ready;
    this.#subAgents = (this.#subAgents ?? new WeakMap<Agent<unknown>, TurnAgent>()).set(agent, known);
    return known;
  }

  /** Returns another agent that has the conversation after the hand-offs on a path, if any. @internal */
  holderOn(path: readonly Message[]): Agent<unknown> | undefined {
    if (!this.ready.toolbox.handsOver) return undefined;
    let holder: Agent<unknown> = this;
    for (const message of path) {
      const to = message.role === "assistant" ? holder.ready.toolbox.handOffIn(message) : undefined;
      if (to) holder = holder.handedTo(to);
    }
    return holder === this ? undefined : holder;
  }

  /** Returns an agent that continues a turn of this agent. @internal */
  handedTo(agent: TaskAgent): Agent<unknown> {
    if (!(agent instanceof Agent)) throw new OptionError("handOff: pass an Agent, as in handOff(writer).");
    const first: Agent<unknown> = this.#first ?? this;
    // A name stands for one agent, as in the log: a changed copy gets its conversation back.
    if (agent.name === first.name) return first;
    const known = first.#successors?.get(agent);
    if (known) return known;
    const onTurn = agent.options.onTurn ?? first.options.onTurn;
    const successor: Agent<unknown> = agent.with({ ...optionsAfter(agent.options, first.options), onTurn });
    successor.#first = first;
    first.#successors = (first.#successors ?? new WeakMap<Agent<unknown>, Agent<unknown>>()).set(agent, successor);
    return successor;
  }

  /** Calls the turn handler. Absent without a handler. @internal */
  get handler(): ChatAgent["handler"] {
    const { onTurn } = this.options;
    return onTurn && ((conversation, turn) => onTurn(conversation, this as Agent<unknown> as Agent, turn));
  }

  /** Returns a builder with these options. */
  static builder(): AgentBuilder {
    return new AgentBuilder();
  }

  get name(): string {
    return this.options.name ?? "agent";
  }

  /**
   * Returns a changed copy; this agent stays unchanged. A changed `context` has the same type. The compiler refuses new
   * tools that need a context: make a new agent with these tools.
   */
  with<Changed = Result>(
    changes: Partial<AgentOptions<Changed>> & { readonly context?: Context | undefined },
  ): Agent<Changed, Context> {
    checkArguments("agent.with", { changes }, { changes: "object" });
    // Without a change of `output`, `Changed` is the type of this agent.
    const options = { ...(this.options as AgentOptions<unknown> as AgentOptions<Changed>), ...changes };
    const changed = new Agent<Changed>(options) as Agent<Changed, Context>;
    changed.#first = this.#first;
    if (Object.keys(changes).every((name) => name === "onTurn")) changed.#alike = this.#alike ?? this;
    return changed;
  }

  /**
   * Returns one stream for a whole conversation. It begins with the directive and continues with the results of
   * `onTurn`. Nothing runs before the stream is iterated, or returned from a turn handler. Leaving the stream early
   * interrupts running work. A turn that asks a user stays open in the log.
   */
  chat(directive: Directive, options: ChatOptions = {}): Chat<Result> {
    return new Chat(this, directive, options);
  }

  /**
   * Makes a tool of this agent. Each call gives the agent a task and returns the agent's result: the value of `output`,
   * or the last text. The agent works as a sub-agent, in its own mode, with its own model, instructions, tools and
   * limits, within the limits and rules of the calling agent. Throws `OptionError` without a name or a description.
   * @example
   * const counter = new Agent({ name: "counter", description: "Counts trees.", model, output: z.object({ trees: z.number() }) });
   * new Agent({ model, tools: [counter.asTool()] });
   */
  asTool(options: AgentToolOptions = {}): Tool<{ readonly task: string }, Result> {
    // The agent's schema makes the result, and `Result` is the type of that schema.
    return taskTool(this, options) as Tool as Tool<{ readonly task: string }, Result>;
  }

  /**
   * Replaces earlier messages, except the last few, by a summary of the model, as soon as no run works on the branch.
   * After a hand-off, the agent that has the conversation writes it. Resolves with the reason if nothing changed.
   * Rejects with `OptionError` for an agent whose loop keeps its own context.
   */
  compact(options: CompactOptions): Promise<string | undefined> {
    const summarizing = (holder: Agent<unknown>) =>
      holder.options.compaction === false ? holder.with({ compaction: {} }) : holder;
    return compactBranch((path) => summarizing(this.holderOn(path) ?? this).ready, options);
  }

  /**
   * Counts the input tokens of the first model call that `send` would make with this content. Asks the provider's
   * endpoint, or estimates (`source`). Changes no session. Rejects with `OptionError` for an agent whose loop keeps its
   * own context.
   * @example const { tokens, source } = await agent.countTokens("Summarise the book.", { session });
   */
  async countTokens(content: UserContent, options: CountTokensOptions = {}): Promise<RequestTokens> {
    return (await import("./count-tokens.ts")).countRequestTokens(this.ready, content, options);
  }

  /**
   * Runs one turn without streaming and without `onTurn`. Rejects with `TurnError` if the model could not respond, or
   * if a limit with policy `fail` ended the turn. An abort of `signal` interrupts the turn, which resolves with the
   * partial result. If the turn asks a user at that moment, its reason is `waiting`, and `resume()` continues it. An
   * abort before the turn has begun rejects with `Interruption`, and nothing is written.
   */
  send(content: UserContent, options: SendOptions & { readonly untilAsked: true }): Promise<Turn<Result | undefined>>;
  send(content: UserContent, options?: SendOptions): Promise<Turn<Result>>;
  async send(content: UserContent, options: SendOptions = {}): Promise<Turn<Result>> {
    refuseUnknown("send", options, SEND);
    const { session = Session.inMemory(), id = createId(), ...rest } = options;
    return this.#takeOne(say(content), { ...rest, session, id });
  }

  /**
   * Answers a question of a waiting turn, and continues the turn until its end or the next question (`waiting`). Use
   * this after `send` with `untilAsked`, in any process, with an agent of the same options. Rejects as `session.answer`
   * and `send` do. Rejects with `SessionError` (`busy`) while a process still works on the turn: use `session.answer`
   * then.
   * @example
   * await using session = await Session.open(store, "order-7");
   * const [question] = session.openQuestions;
   * const turn = await agent.answer(question?.id ?? "", { decision: "allow" }, { session });
   */
  async answer(question: string, answer: Answer, options: AnswerOptions): Promise<Turn<Result | undefined>> {
    refuseUnknown("answer", options, ANSWER);
    const { session } = options;
    checkSession("answer", session);
    const open = session.state.questions.get(question);
    const turn = open && turnWaitingFor(session.state, open);
    if (open && !turn) throw stillAskedError(question);
    await session.answer(question, answer);
    return this.#takeOne(resume(), { ...options, at: turn?.leaf ?? undefined, id: createId(), untilAsked: true });
  }

  async #takeOne(
    directive: Directive,
    { untilAsked = false, ...options }: SendOptions & { readonly session: Session; readonly id: string },
  ): Promise<Turn<Result>> {
    const chat = new Chat(this, directive, options);
    using asked = untilAsked ? whenOnlyWaiting(chat.session, options.id) : undefined;
    let turn: Turn | undefined;
    await runChatTurns(chat, { signal: asked?.signal, once: true, onTurn: (ended) => (turn = ended) });
    return successfulTurn(turn, !untilAsked && this.options.output !== undefined);
  }
}

function makeAgent<Result, Context>(options: AgentOptions<Result, Context>): Agent<Result, Context> {
  // The setters have checked that the tools get their context.
  return new Agent(options as AgentOptions<Result, Context> & WithContext<NoInfer<Context>>);
}

/**
 * Builder of an agent, with one setter per option of `AgentOptions`. Each setter returns a new builder.
 * @example
 * const friendly = Agent.builder().model(model).instructions("You are a friendly guide.").limits({ steps: 5 }).build();
 */
export class AgentBuilder<Result = Json | undefined, Context = unknown> {
  readonly #options: Partial<AgentOptions<Result, Context>>;

  constructor(options: Partial<AgentOptions<Result, Context>> = {}) {
    this.#options = options;
  }

  name(name: string): AgentBuilder<Result, Context> {
    return this.#set({ name });
  }

  description(description: string): AgentBuilder<Result, Context> {
    return this.#set({ description });
  }

  model(model: AgentOptions["model"]): AgentBuilder<Result, Context> {
    return this.#set({ model });
  }

  instructions(instructions: string): AgentBuilder<Result, Context> {
    return this.#set({ instructions });
  }

  tools(...tools: readonly Tool<unknown, unknown, Context>[]): AgentBuilder<Result, Context> {
    return this.#set({ tools: [...(this.#options.tools ?? []), ...tools] });
  }

  toolChoice(toolChoice: NonNullable<AgentOptions["toolChoice"]>): AgentBuilder<Result, Context> {
    return this.#set({ toolChoice });
  }

  toolsFor(toolsFor: NonNullable<AgentOptions["toolsFor"]>): AgentBuilder<Result, Context> {
    return this.#set({ toolsFor });
  }

  settings(settings: ModelSettings): AgentBuilder<Result, Context> {
    checkArguments("Agent.builder", { settings }, { settings: "object" });
    return this.#set({ settings: { ...this.#options.settings, ...settings } });
  }

  limits(limits: Limits): AgentBuilder<Result, Context> {
    checkArguments("Agent.builder", { limits }, { limits: "object" });
    return this.#set({ limits: { ...this.#options.limits, ...limits } });
  }

  rateLimit(rateLimit: NonNullable<AgentOptions["rateLimit"]>): AgentBuilder<Result, Context> {
    return this.#set({ rateLimit });
  }

  bounds(bounds: NonNullable<AgentOptions["bounds"]>): AgentBuilder<Result, Context> {
    return this.#set({ bounds });
  }

  retry(retry: NonNullable<AgentOptions["retry"]>): AgentBuilder<Result, Context> {
    return this.#set({ retry });
  }

  mode(mode: NonNullable<AgentOptions["mode"]>): AgentBuilder<Result, Context> {
    return this.#set({ mode });
  }

  output<Output>(output: NonNullable<AgentOptions<Output>["output"]>): AgentBuilder<Output, Context> {
    const { output: _, ...others } = this.#options;
    return new AgentBuilder<Output, Context>({ ...others, output });
  }

  goal(goal: NonNullable<AgentOptions["goal"]>): AgentBuilder<Result, Context> {
    return this.#set({ goal });
  }

  /** Call this before `tools`, so that the compiler knows the context. */
  context<Given>(context: Given): AgentBuilder<Result, Given> {
    const { tools, ...others } = this.#options as Partial<AgentOptions<Result, unknown>>;
    return new AgentBuilder<Result, Given>({ ...others, ...(tools && { tools }), context });
  }

  unattended(unattended = true): AgentBuilder<Result, Context> {
    return this.#set({ unattended });
  }

  storeText(storeText: NonNullable<AgentOptions["storeText"]>): AgentBuilder<Result, Context> {
    return this.#set({ storeText });
  }

  compaction(compaction: NonNullable<AgentOptions["compaction"]>): AgentBuilder<Result, Context> {
    return this.#set({ compaction });
  }

  modelNamed(modelNamed: NonNullable<AgentOptions["modelNamed"]>): AgentBuilder<Result, Context> {
    return this.#set({ modelNamed });
  }

  fallbacks(...fallbacks: readonly string[]): AgentBuilder<Result, Context> {
    return this.#set({ fallbacks });
  }

  memory(memory: NonNullable<AgentOptions["memory"]>): AgentBuilder<Result, Context> {
    return this.#set({ memory });
  }

  permission(permission: NonNullable<AgentOptions["permission"]>): AgentBuilder<Result, Context> {
    return this.#set({ permission });
  }

  callsAtOnce(callsAtOnce: number): AgentBuilder<Result, Context> {
    return this.#set({ callsAtOnce });
  }

  hooks(hooks: NonNullable<AgentOptions["hooks"]>): AgentBuilder<Result, Context> {
    return this.#set({ hooks });
  }

  guards(guards: NonNullable<AgentOptions<Result, Context>["guards"]>): AgentBuilder<Result, Context> {
    return this.#set({ guards });
  }

  callbacks(callbacks: NonNullable<AgentOptions["callbacks"]>): AgentBuilder<Result, Context> {
    return this.#set({ callbacks });
  }

  onTurn(onTurn: NonNullable<AgentOptions["onTurn"]>): AgentBuilder<Result, Context> {
    return this.#set({ onTurn });
  }

  /** Throws `OptionError` if no model was set. */
  build(): Agent<Result, Context> {
    const { model, ...others } = this.#options;
    if (model) return makeAgent({ ...others, model });
    throw new OptionError("An agent needs a model: call .model(...) before .build().");
  }

  #set(options: Partial<AgentOptions<Result, Context>>): AgentBuilder<Result, Context> {
    return new AgentBuilder({ ...this.#options, ...options });
  }
}
