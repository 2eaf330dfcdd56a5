import type { UserContent } from "../conversation/checked/user-content.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import { createId } from "../conversation/id.ts";
import { OptionError, type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import { isBlockedByUser, turnWaitingFor } from "../conversation/tree/asking-run.ts";
import type { ModelSettings } from "../ports/model.ts";
import type { Tool } from "../ports/tool.ts";
import type { Answer } from "../ports/verdict.ts";
import type { Limits } from "../run/limits.ts";
import type { TurnAgent } from "../run/run.ts";
import { stillAskedError } from "../session/error.ts";
import { Session } from "../session/session.ts";
import type { Turn } from "../turn/turn.ts";
import { Chat, type ChatAgent, type ChatOptions, type Conversation, runChatTurns } from "./chat.ts";
import { checkAgentOptions } from "./check-options.ts";
import { type CompactOptions, compactBranch } from "./compact.ts";
import { type Directive, resume, say } from "./directive.ts";
import { readyAgent } from "./prepare.ts";
import { successfulTurn } from "./turn-error.ts";
import type { TurnOptions } from "./turn-options.ts";

/**
 * Function that runs after every turn, with the conversation and the agent of the turn. It returns the next
 * `agent.chat(...)`, of any agent, which continues in the same stream and session. If it returns nothing, the chat
 * ends. It may wait for a user for days (B2).
 */
export type TurnHandler = (
  conversation: Conversation,
  agent: Agent,
  turn: Turn,
) => Chat | undefined | void | Promise<Chat | undefined | void>;

/**
 * Options of an agent. Only the model is required.
 * @example new Agent({ model, onTurn: (_, agent, turn) => (turn.steps < 9 ? agent.chat(say("Go on.")) : undefined) });
 */
export interface AgentOptions extends TurnOptions {
  /** Decides after each turn how the conversation continues. Default: a chat ends after one turn. */
  readonly onTurn?: TurnHandler | undefined;
}

interface SendOptions extends Omit<ChatOptions, "sharesLimits"> {
  /**
   * Resolves with `waiting` as soon as the turn cannot continue before a user answers. `turn.questions` has the open
   * questions; `agent.answer` continues the turn, in any process. `send` still waits for the answer to a question of a
   * tool that cannot run again (`survives: false`). Default `false`.
   * @example const { questions } = await agent.send("Refund order 7.", { session, untilAsked: true });
   */
  readonly untilAsked?: boolean | undefined;
}

const SEND: OptionNames<SendOptions> = {
  session: true,
  at: true,
  id: true,
  client: true,
  wait: true,
  signal: true,
  untilAsked: true,
};

interface AnswerOptions extends Pick<SendOptions, "client" | "signal"> {
  /** The conversation, opened by this process. */
  readonly session: Session;
}

const ANSWER: OptionNames<AnswerOptions> = { session: true, client: true, signal: true };

/**
 * An immutable agent. Its constructor checks only the names of the options, the model, the memory and the tools. The
 * first turn checks the values of the other options.
 */
export class Agent implements ChatAgent {
  readonly options: AgentOptions;
  #ready: TurnAgent | undefined;
  /** An agent that differs only in its turn handler. */
  // biome-ignore lint/style/useReadonlyClassProperties: `with` sets it, of the agent that it makes.
  #alike: Agent | undefined;

  /** Throws `OptionError` for an invalid option, and `ToolDefinitionError` for an unusable tool or schema. */
  constructor(options: AgentOptions) {
    checkAgentOptions(options);
    this.options = Object.freeze({ ...options });
    Object.freeze(this);
  }

  /** The prepared agent for turns, created once. Throws for invalid options. @internal */
  get ready(): TurnAgent {
    // All agents that differ only in the turn handler share the prepared agent.
    this.#ready ??= this.#alike
      ? this.#alike.ready
      : readyAgent(this, (model) => (model ? this.with({ model }) : this).ready);
    return this.#ready;
  }

  /** Calls the turn handler. Absent without a handler. @internal */
  get handler(): ChatAgent["handler"] {
    const { onTurn } = this.options;
    return onTurn && ((conversation, turn) => onTurn(conversation, this, turn));
  }

  /** Returns a builder with these options. */
  static builder(): AgentBuilder {
    return new AgentBuilder((options) => new Agent(options));
  }

  get name(): string {
    return this.options.name ?? "agent";
  }

  /** Returns a changed copy; this agent stays unchanged. */
  with(changes: Partial<AgentOptions>): Agent {
    const changed = new Agent({ ...this.options, ...changes });
    if (Object.keys(changes).every((name) => name === "onTurn")) changed.#alike = this.#alike ?? this;
    return changed;
  }

  /**
   * Returns one stream for a whole conversation. It begins with the directive and continues with the results of
   * `onTurn`. Nothing runs before the stream is iterated, or returned from a turn handler. Leaving the stream early
   * interrupts running work. A turn that asks a user stays open in the log.
   */
  chat(directive: Directive, options: ChatOptions = {}): Chat {
    return new Chat(this, directive, options);
  }

  /**
   * Replaces earlier messages, except the last few, by a summary of the model, as soon as no run works on the branch.
   * Resolves with the reason if nothing changed. Rejects with `OptionError` for an agent whose loop keeps its own
   * context.
   */
  compact(options: CompactOptions): Promise<string | undefined> {
    const summarizing = () => (this.options.compaction === false ? this.with({ compaction: {} }) : this);
    return compactBranch(() => summarizing().ready, options);
  }

  /**
   * Runs one turn without streaming and without `onTurn`. Rejects with `TurnError` if the model could not respond, or
   * if a limit with policy `fail` ended the turn. An abort of `signal` interrupts the turn, which resolves with the
   * partial result. If the turn asks a user at that moment, its reason is `waiting`, and `resume()` continues it. An
   * abort before the turn has begun rejects with `Interruption`, and nothing is written.
   */
  async send(content: UserContent, options: SendOptions = {}): Promise<Turn> {
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
  async answer(question: string, answer: Answer, options: AnswerOptions): Promise<Turn> {
    refuseUnknown("answer", options, ANSWER);
    const { session } = options;
    const open = session.state.questions.get(question);
    const turn = open && turnWaitingFor(session.state, open);
    if (open && !turn) throw stillAskedError(question);
    await session.answer(question, answer);
    return this.#takeOne(resume(), { ...options, at: turn?.leaf ?? undefined, id: createId(), untilAsked: true });
  }

  async #takeOne(
    directive: Directive,
    { untilAsked = false, ...options }: SendOptions & { readonly session: Session; readonly id: string },
  ): Promise<Turn> {
    const alone = this.options.onTurn ? this.with({ onTurn: undefined }) : this;
    const chat = new Chat(alone, directive, options);
    using asked = untilAsked ? whenOnlyWaiting(chat.session, options.id) : undefined;
    let turn: Turn | undefined;
    await runChatTurns(chat, { signal: asked?.signal, once: true, onTurn: (ended) => (turn = ended) });
    return successfulTurn(turn);
  }
}

/** Returns a signal that aborts as soon as the turn with this id cannot continue before a user answers. */
function whenOnlyWaiting(session: Session, id: string): Disposable & { readonly signal: AbortSignal } {
  const asked = new AbortController();
  let run: string | undefined;
  const items = (shown: readonly FeedItem[]) => {
    // The id names the turn's message or its run.
    for (const item of shown) if (item.type === "run.started" && (item.run === id || item.leaf === id)) run = item.run;
    if (run !== undefined && isBlockedByUser(session.state, run)) asked.abort();
  };
  const stop = session.listen({ items, ended() {} });
  return { signal: asked.signal, [Symbol.dispose]: stop };
}

/** Builder of an agent, with one setter per option of `AgentOptions`. Each setter returns a new builder. */
export class AgentBuilder {
  readonly #make: (options: AgentOptions) => Agent;
  readonly #options: Partial<AgentOptions>;

  constructor(make: (options: AgentOptions) => Agent, options: Partial<AgentOptions> = {}) {
    this.#make = make;
    this.#options = options;
  }

  name(name: string): AgentBuilder {
    return this.#set({ name });
  }

  model(model: AgentOptions["model"]): AgentBuilder {
    return this.#set({ model });
  }

  instructions(instructions: string): AgentBuilder {
    return this.#set({ instructions });
  }

  tools(...tools: readonly Tool[]): AgentBuilder {
    return this.#set({ tools: [...(this.#options.tools ?? []), ...tools] });
  }

  settings(settings: ModelSettings): AgentBuilder {
    return this.#set({ settings: { ...this.#options.settings, ...settings } });
  }

  limits(limits: Limits): AgentBuilder {
    return this.#set({ limits: { ...this.#options.limits, ...limits } });
  }

  bounds(bounds: NonNullable<AgentOptions["bounds"]>): AgentBuilder {
    return this.#set({ bounds });
  }

  retry(retry: NonNullable<AgentOptions["retry"]>): AgentBuilder {
    return this.#set({ retry });
  }

  mode(mode: NonNullable<AgentOptions["mode"]>): AgentBuilder {
    return this.#set({ mode });
  }

  output(output: NonNullable<AgentOptions["output"]>): AgentBuilder {
    return this.#set({ output });
  }

  unattended(unattended = true): AgentBuilder {
    return this.#set({ unattended });
  }

  storeText(storeText: NonNullable<AgentOptions["storeText"]>): AgentBuilder {
    return this.#set({ storeText });
  }

  compaction(compaction: NonNullable<AgentOptions["compaction"]>): AgentBuilder {
    return this.#set({ compaction });
  }

  modelNamed(modelNamed: NonNullable<AgentOptions["modelNamed"]>): AgentBuilder {
    return this.#set({ modelNamed });
  }

  fallbacks(...fallbacks: readonly string[]): AgentBuilder {
    return this.#set({ fallbacks });
  }

  memory(memory: NonNullable<AgentOptions["memory"]>): AgentBuilder {
    return this.#set({ memory });
  }

  permission(permission: NonNullable<AgentOptions["permission"]>): AgentBuilder {
    return this.#set({ permission });
  }

  callsAtOnce(callsAtOnce: number): AgentBuilder {
    return this.#set({ callsAtOnce });
  }

  hooks(hooks: NonNullable<AgentOptions["hooks"]>): AgentBuilder {
    return this.#set({ hooks });
  }

  callbacks(callbacks: NonNullable<AgentOptions["callbacks"]>): AgentBuilder {
    return this.#set({ callbacks });
  }

  onTurn(onTurn: NonNullable<AgentOptions["onTurn"]>): AgentBuilder {
    return this.#set({ onTurn });
  }

  /** Throws `OptionError` if no model was set. */
  build(): Agent {
    const { model } = this.#options;
    if (!model) throw new OptionError("An agent needs a model: call .model(...) before .build().");
    return this.#make({ ...this.#options, model });
  }

  #set(options: Partial<AgentOptions>): AgentBuilder {
    return new AgentBuilder(this.#make, { ...this.#options, ...options });
  }
}
