import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { UserContent } from "../conversation/checked/user-content.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import { createId } from "../conversation/id.ts";
import type { Message } from "../conversation/message.ts";
import { type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import type { ConversationState } from "../conversation/state.ts";
import { onlyWaits, turnThatWaits } from "../conversation/tree/asking.ts";
import type { ResponseBounds } from "../model/response-size.ts";
import type { Answer, CallHooks, Permission } from "../ports/human.ts";
import type { LoopDriver } from "../ports/loop.ts";
import type { Memory } from "../ports/memory.ts";
import type { ModelDriver, ModelSettings } from "../ports/model.ts";
import type { InputSchema, Tool } from "../ports/tool.ts";
import type { Limits } from "../run/limits.ts";
import type { TurnProblem } from "../run/mode.ts";
import type { Callbacks, RetrySettings, StoreText, TurnAgent } from "../run/run.ts";
import { Interruption, stillAsked } from "../session/error.ts";
import { Session } from "../session/session.ts";
import type { Turn } from "../turn/turn.ts";
import { AgentBuilder } from "./builder.ts";
import { Chat, type ChatOptions, converse } from "./chat.ts";
import { checkOptions } from "./check-options.ts";
import { type CompactOptions, compactBranch } from "./compact.ts";
import { type Directive, resume, say } from "./directive.ts";
import { readyAgent } from "./prepare.ts";

/** A read-only conversation for a turn handler. */
export interface Conversation {
  /** The id for `Session.open`. */
  readonly id: string;
  /** The whole tree, which keeps changing. */
  readonly state: ConversationState;
  /** The leaf of the branch that the chat writes. */
  readonly leaf: string | null;
  /** The path of the chat's branch, as it is when the handler first reads it. */
  readonly path: readonly Message[];
}

/**
 * Runs after every turn, with the conversation and the agent of the turn. Returns the next `agent.chat(...)`, of any
 * agent, which continues in the same stream and session; or nothing, which ends the chat. It may wait for a user, even
 * for days (B2).
 */
export type TurnHandler = (
  conversation: Conversation,
  agent: Agent,
  turn: Turn,
) => Chat | undefined | void | Promise<Chat | undefined | void>;

/** Options of an agent. Only the model is required. */
export interface AgentOptions {
  /**
   * Name for users and logs. Default `agent`.
   * @example new Agent({ model, name: "gardener" });
   */
  readonly name?: string | undefined;
  /**
   * The model: a driver, any language model of the `@ai-sdk/provider` interface, version 4, or a loop that runs whole
   * turns.
   * @example new Agent({ model: await resolveModel("anthropic/claude-sonnet-4-5") });
   */
  readonly model: ModelDriver | LanguageModelV4 | LoopDriver;
  /**
   * Returns the model with a name. Called when the conversation is given another model (`model.changed`) while the
   * agent works: before the next step, and again in each turn. Absent: the agent keeps its model.
   * @example new Agent({ model, modelNamed: (name) => resolveModel(name) });
   */
  readonly modelNamed?: ((name: string) => Promise<ModelDriver | LanguageModelV4 | LoopDriver>) | undefined;
  /**
   * Names of fallback models, for `modelNamed`, in this order, for a model that stays overloaded, limited or unreachable.
   * The fallback continues the turn, and the feed reports it (`model.replaced`); the next turn begins with `model`. While
   * a fallback is left, a failing model is retried for only one minute, unless `retry` sets another time. Default: none.
   * @example new Agent({ model, modelNamed: (name) => resolveModel(name), fallbacks: ["openai/gpt-5"] });
   */
  readonly fallbacks?: readonly string[] | undefined;
  /**
   * The system prompt.
   * @example new Agent({ model, instructions: "You answer in one sentence." });
   */
  readonly instructions?: string | undefined;
  /**
   * Tools for the model. Their schemas are prepared once per array, so reuse the array. Default: none.
   * @example new Agent({ model, tools: [...workspaceTools({ root: "." }), launchAgent()] });
   */
  readonly tools?: readonly Tool[] | undefined;
  /**
   * Settings for responses. Default: those of the model or its provider.
   * @example new Agent({ model, settings: { temperature: 0, maxTokens: 1_000 } });
   */
  readonly settings?: ModelSettings | undefined;
  /**
   * Limits of each turn. Default: 50 steps, and sub-agents 3 deep.
   * @example new Agent({ model, limits: { steps: 20, cost: 0.5 } });
   */
  readonly limits?: Limits | undefined;
  /**
   * Retries of a failed model call. Default: with growing pauses, for 5 minutes.
   * @example new Agent({ model, retry: { attempts: 3, idle: 30_000 } });
   */
  readonly retry?: RetrySettings | undefined;
  /**
   * Maximum size of a response. Default: 64 Mi characters, of which the arguments of a call may be 32 Mi.
   * @example new Agent({ model, bounds: { answer: 1_000_000, arguments: 100_000 } });
   */
  readonly bounds?: ResponseBounds | undefined;
  /**
   * `chat` (default): the turn ends when the model asks for no call. `task`: the turn ends only when the model calls
   * `finish_task`, which the mode adds, together with `ask_client`.
   * @example new Agent({ model, mode: "task" });
   */
  readonly mode?: "chat" | "task" | undefined;
  /**
   * Schema of the result in task mode. A result that does not fit is requested once more, then the turn fails.
   * @example new Agent({ model, mode: "task", output: { type: "object", required: ["title"] } });
   */
  readonly output?: InputSchema<unknown> | undefined;
  /**
   * No user can be asked. Questions of tools get their default answer, calls that need approval are denied, and at a
   * limit the policy `ask` acts as `wrap-up`. Default `false`.
   * @example new Agent({ model, mode: "task", unattended: true });
   */
  readonly unattended?: boolean | undefined;
  /**
   * Stores the text of a message that is too large for the model, after a user has agreed. Returns the path at which
   * the agent's tools read the text. The user sees an error that it throws. Default: such a message is refused.
   * @example
   * const storeText = async (text: string, { message }: { readonly message: string }) => {
   *   await writeFile(`${message}.txt`, text);
   *   return `${message}.txt`;
   * };
   * new Agent({ model, tools, storeText });
   */
  readonly storeText?: StoreText | undefined;
  /**
   * Settings for summaries of long conversations; `false`: none. Needs a model with known context size, or `contextSize`.
   * @example new Agent({ model, compaction: { threshold: 0.6 } });
   */
  readonly compaction?: CompactionOptions | false | undefined;
  /**
   * Memory, the maximum number of entries (default 8), and the timeout in milliseconds (default 5,000).
   * @example new Agent({ model, memory: { store: sqliteMemory({ file: "memory.db" }), limit: 4 } });
   */
  readonly memory?:
    | { readonly store: Memory; readonly limit?: number | undefined; readonly timeout?: number | undefined }
    | undefined;
  /**
   * Judges each call. Absent: every call is allowed.
   * @example new Agent({ model, permission: ({ tool }) => ({ decision: tool.effects === "none" ? "allow" : "ask" }) });
   */
  readonly permission?: Permission | undefined;
  /**
   * Hooks around each call. `beforeCall` runs before the rules: it may deny the call, demand a question, or change the
   * arguments, which are then checked and judged like the model's. If it allows a call, no user is asked unless a rule
   * demands it. The result of `afterCall` is added to the call's result. If `beforeCall` throws, the call does not run;
   * if `afterCall` throws, nothing is added. `beforeSummary` adds instructions to the request for a summary, or denies
   * a summary that a user asked for.
   * @example new Agent({ model, hooks: { afterCall: ({ status }) => (status === "failed" ? "Read the manual." : undefined) } });
   */
  readonly hooks?: CallHooks | undefined;
  /**
   * Maximum number of calls of a response that run in parallel. Default 10.
   * @example new Agent({ model, callsAtOnce: 3 });
   */
  readonly callsAtOnce?: number | undefined;
  /**
   * Functions that are called on events, for a program that does not read the stream.
   * @example new Agent({ model, callbacks: { onCall: (call) => console.log(call.tool, call.status) } });
   */
  readonly callbacks?: Callbacks | undefined;
  /**
   * Decides after each turn how the conversation continues. Absent: a chat ends after one turn.
   * @example new Agent({ model, onTurn: (_, agent, turn) => (turn.steps < 9 ? agent.chat(say("Go on.")) : undefined) });
   */
  readonly onTurn?: TurnHandler | undefined;
}

/** Settings for compaction; shares are parts of the model's context. */
export interface CompactionOptions {
  /**
   * Share from which the model is reminded of the tool `shorten_conversation`, if it has the tool. Default 0.65.
   * @example new Agent({ model, tools: [shortenConversation()], compaction: { hint: 0.5 } });
   */
  readonly hint?: number | undefined;
  /**
   * Share from which a summary by the model replaces earlier messages. Default 0.8.
   * @example new Agent({ model, compaction: { threshold: 0.7 } });
   */
  readonly threshold?: number | undefined;
  /**
   * Tokens that a request and its response may have together. Default: that of the model's driver.
   * @example new Agent({ model, compaction: { contextSize: 32_000 } });
   */
  readonly contextSize?: number | undefined;
  /**
   * Counts the tokens of a text that no provider has counted yet. Called only if the context may be nearly full, so it
   * may load a tokenizer then. Default: a quarter of the characters.
   * @example new Agent({ model, compaction: { count: (text) => Math.ceil(text.length / 3) } });
   */
  readonly count?: ((text: string) => number | Promise<number>) | undefined;
  /**
   * Makes summaries when the context is nearly full. With `false`, only `agent.compact` and the tool
   * `shorten_conversation` make them. Default `true`.
   * @example new Agent({ model, compaction: { automatic: false, instructions: "Keep all prices." } });
   */
  readonly automatic?: boolean | undefined;
  /**
   * Name of the model that writes summaries, for `modelNamed`. Another model cannot use the provider's cache. Default:
   * the model of the turn.
   * @example new Agent({ model, modelNamed: (name) => resolveModel(name), compaction: { model: "openai/gpt-5-mini" } });
   */
  readonly model?: string | undefined;
  /**
   * Instructions for the model that writes summaries.
   * @example new Agent({ model, compaction: { instructions: "Keep all prices." } });
   */
  readonly instructions?: string | undefined;
  /**
   * Makes summaries in the background from `hint` on, so that no turn waits for a summary before its context is full.
   * The model then gets no reminder. A summary of a chat continues after the turn; `session.close()` ends it. Default
   * `true`, unless the driver's server answers only one request at a time.
   * @example new Agent({ model, compaction: { background: false } });
   */
  readonly background?: boolean | undefined;
}

/** Options for one turn. */
interface SendOptions extends Omit<ChatOptions, "sharesLimits"> {
  /** Interrupts the turn. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Resolves with `waiting` as soon as the turn cannot continue before a user answers. `turn.questions` are the open
   * questions, and `agent.answer` continues the turn, in any process. Questions of tools that cannot run again
   * (`survives: false`) are waited for. Default `false`.
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

/** Options for an answer that continues a turn. */
interface AnswerOptions extends Pick<SendOptions, "client" | "signal"> {
  /** The conversation, opened by this process. */
  readonly session: Session;
}

const ANSWER: OptionNames<AnswerOptions> = { session: true, client: true, signal: true };

/** A turn of `send` without a response. `turn` has the partial result. */
export class TurnError extends Error {
  override readonly name = "TurnError";
  /** The code of the `ModelError`, or `limit`, `output` or `defect`. */
  readonly code: TurnProblem["code"];
  /** The partial turn: its text, usage and cost. */
  readonly turn: Turn;

  constructor(turn: Turn, problem: TurnProblem) {
    super(problem.message, { cause: problem.cause });
    this.code = problem.code;
    this.turn = turn;
  }
}

/**
 * An agent: a small immutable handle. Creating one is cheap: the constructor checks only the names of options, the
 * model, the memory and the tools. Values of other options are checked at the first turn.
 */
export class Agent {
  /** The given options; frozen. */
  readonly options: AgentOptions;
  #ready: TurnAgent | undefined;
  /** An agent that differs only in its turn handler. */
  // biome-ignore lint/style/useReadonlyClassProperties: `with` sets it, of the agent that it makes.
  #alike: Agent | undefined;

  /**
   * Throws `OptionError` for an unknown option, and for an invalid model or memory. Throws `ToolDefinitionError` for an
   * unusable tool, or for a schema with an unusable part, naming the place.
   */
  constructor(options: AgentOptions) {
    checkOptions(options);
    this.options = Object.freeze({ ...options });
    Object.freeze(this);
  }

  /**
   * The prepared agent for turns, created once. Throws for invalid options.
   * @internal
   */
  get ready(): TurnAgent {
    // A turn does not use the handler, and each turn may bring another one: all such agents share the prepared agent.
    this.#ready ??= this.#alike ? this.#alike.ready : readyAgent(this);
    return this.#ready;
  }

  /** Returns a builder for the same options. */
  static builder(): AgentBuilder {
    return new AgentBuilder((options) => new Agent(options));
  }

  /** Name for users and logs. */
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
   * Returns one stream for a whole conversation: begins with the directive, and continues with the results of `onTurn`.
   * Inert until it is iterated, or returned from a turn handler. Leaving it early interrupts running work; a turn that
   * asks a user stays open in the log.
   */
  chat(directive: Directive, options: ChatOptions = {}): Chat {
    return new Chat(this, directive, options);
  }

  /**
   * Replaces earlier messages, except the last few, by a summary of the model, once no run works on the branch.
   * Resolves with nothing, or with the reason why nothing changed. Rejects with `OptionError` for an agent whose loop
   * keeps its own context.
   */
  compact(options: CompactOptions): Promise<string | undefined> {
    return compactBranch(this, options);
  }

  /**
   * Runs one turn without streaming and without `onTurn`. Rejects with `TurnError` if the model could not respond, or
   * if a limit with policy `fail` ended the turn. An abort of `signal` interrupts the turn, which resolves with the
   * partial result. If a user is being asked, the reason is `waiting`, and `resume()` continues the turn. While the
   * turn still waits for its branch, an abort rejects with `Interruption` and nothing is written.
   */
  async send(content: UserContent, options: SendOptions = {}): Promise<Turn> {
    refuseUnknown("send", options, SEND);
    const { session = Session.inMemory(), id = createId(), ...rest } = options;
    return this.#takeOne(say(content), { ...rest, session, id });
  }

  /**
   * Answers a question of a waiting turn, and continues the turn until it ends or needs another answer (`waiting`): the
   * second half of `send` with `untilAsked`, in any process. Use an agent with the same options as the one that asked.
   * Rejects as `session.answer` and `send` do, and with `SessionError` (`busy`) while a process works on the turn: use
   * `session.answer` then.
   *
   * @example
   * await using session = await Session.open(store, "order-7");
   * const [question] = session.openQuestions;
   * const turn = await agent.answer(question?.id ?? "", { decision: "allow" }, { session });
   */
  async answer(question: string, answer: Answer, options: AnswerOptions): Promise<Turn> {
    refuseUnknown("answer", options, ANSWER);
    const { session } = options;
    const open = session.state.questions.get(question);
    const turn = open && turnThatWaits(session.state, open);
    if (open && !turn) throw stillAsked(question);
    await session.answer(question, answer);
    return this.#takeOne(resume(), { ...options, at: turn?.leaf ?? undefined, id: createId(), untilAsked: true });
  }

  async #takeOne(
    directive: Directive,
    { signal, untilAsked = false, ...options }: SendOptions & { readonly session: Session; readonly id: string },
  ): Promise<Turn> {
    const alone = this.options.onTurn ? this.with({ onTurn: undefined }) : this;
    const chat = new Chat(alone, directive, options);
    using asked = untilAsked ? whenOnlyWaiting(chat.session, options.id) : undefined;
    const signals = [signal, asked?.signal].filter((each) => each !== undefined);
    let turn: Turn | undefined;
    await converse(chat, {
      signal: signals.length > 0 ? AbortSignal.any(signals) : undefined,
      once: true,
      onTurn: (ended) => (turn = ended),
    });
    if (!turn) throw new Interruption("interrupted before the turn began; nothing was written");
    if (turn.error) throw new TurnError(turn, turn.error);
    return turn;
  }
}

/** Returns a signal that aborts as soon as the turn with this id cannot continue before a user answers. */
function whenOnlyWaiting(session: Session, id: string): Disposable & { readonly signal: AbortSignal } {
  const asked = new AbortController();
  let run: string | undefined;
  const items = (shown: readonly FeedItem[]) => {
    // The id is that of the turn's message, or of its run.
    for (const item of shown) if (item.type === "run.started" && (item.run === id || item.leaf === id)) run = item.run;
    if (run !== undefined && onlyWaits(session.state, run)) asked.abort();
  };
  const stop = session.listen({ items, ended() {} });
  return { signal: asked.signal, [Symbol.dispose]: stop };
}
