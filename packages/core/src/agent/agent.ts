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

/** A conversation as a turn handler sees it: read only. */
export interface Conversation {
  /** By which `Session.open` finds it. */
  readonly id: string;
  /** The whole tree; goes on changing. */
  readonly state: ConversationState;
  /** The message at which the chat stands: the end of the branch that it writes. */
  readonly leaf: string | null;
  /** From the root to the end of the branch that the chat writes, as it is when the handler first looks. */
  readonly path: readonly Message[];
}

/**
 * Runs after every turn, with the whole conversation and the agent that took the turn. It returns the next
 * `agent.chat(...)`, of this agent or another, which goes on in the same stream and session, or nothing, which ends
 * the chat. It may take its time: for a person, for days (B2).
 */
export type TurnHandler = (
  conversation: Conversation,
  agent: Agent,
  turn: Turn,
) => Chat | undefined | void | Promise<Chat | undefined | void>;

/** What an agent is made of. Only the model is needed. */
export interface AgentOptions {
  /**
   * What people and logs call it. Default `agent`.
   * @example new Agent({ model, name: "gardener" });
   */
  readonly name?: string | undefined;
  /**
   * What writes its messages: a driver, any language model of the `@ai-sdk/provider` interface, version 4, or a loop that runs whole
   * turns by itself.
   * @example new Agent({ model: await resolveModel("anthropic/claude-sonnet-4-5") });
   */
  readonly model: ModelDriver | LanguageModelV4 | LoopDriver;
  /**
   * The model of a name: asked, before the next step and then once a turn, when the conversation is given another model
   * (`model.changed`) while the agent is at work. Without this the agent keeps its own.
   * @example new Agent({ model, modelNamed: (name) => resolveModel(name) });
   */
  readonly modelNamed?: ((name: string) => Promise<ModelDriver | LanguageModelV4 | LoopDriver>) | undefined;
  /**
   * Names of models, for `modelNamed`, that stand in one after the other when a model stays overloaded, limited or
   * unreachable: the next goes on with the turn, the feed says so (`model.replaced`), and the next turn begins with `model`. While
   * one is left, a model that fails is asked again for one minute, if `retry` does not say otherwise. Default: none.
   * @example new Agent({ model, modelNamed: (name) => resolveModel(name), fallbacks: ["openai/gpt-5"] });
   */
  readonly fallbacks?: readonly string[] | undefined;
  /**
   * The system prompt.
   * @example new Agent({ model, instructions: "You answer in one sentence." });
   */
  readonly instructions?: string | undefined;
  /**
   * What the model may call. Its schemas are made once for an array: keep it. Default: nothing.
   * @example new Agent({ model, tools: [...workspaceTools({ root: "." }), launchAgent()] });
   */
  readonly tools?: readonly Tool[] | undefined;
  /**
   * How the model is to respond. Default: as its name, or its provider, says.
   * @example new Agent({ model, settings: { temperature: 0, maxTokens: 1_000 } });
   */
  readonly settings?: ModelSettings | undefined;
  /**
   * Bounds of each turn. Default: 50 steps, and sub-agents 3 deep.
   * @example new Agent({ model, limits: { steps: 20, cost: 0.5 } });
   */
  readonly limits?: Limits | undefined;
  /**
   * How a model call that failed is asked again. Default: with growing pauses, for 5 minutes.
   * @example new Agent({ model, retry: { attempts: 3, idle: 30_000 } });
   */
  readonly retry?: RetrySettings | undefined;
  /**
   * How much of a response is taken. Default: 64 Mi characters, of which the arguments of a call may be 32 Mi.
   * @example new Agent({ model, bounds: { answer: 1_000_000, arguments: 100_000 } });
   */
  readonly bounds?: ResponseBounds | undefined;
  /**
   * `chat` (default): control goes back when the model asks for no call. `task`: the turn ends only when the model calls
   * `finish_task`, which the mode brings, as it brings `ask_client`.
   * @example new Agent({ model, mode: "task" });
   */
  readonly mode?: "chat" | "task" | undefined;
  /**
   * In task mode: what the result must look like. A result that does not fit is asked for once more, then the turn
   * fails.
   * @example new Agent({ model, mode: "task", output: { type: "object", required: ["title"] } });
   */
  readonly output?: InputSchema<unknown> | undefined;
  /**
   * Nobody can be asked, so nothing waits for a person: questions of tools are answered with their default, calls that
   * the rules would ask about are denied, and at a limit with policy `ask` the turn is wrapped up. Default `false`.
   * @example new Agent({ model, mode: "task", unattended: true });
   */
  readonly unattended?: boolean | undefined;
  /**
   * Stores the text of a message that is too large for the model, after a user has agreed, and returns the path at which a tool
   * of the agent reads it. What it throws is shown to the user. Default: such a message is refused.
   * @example
   * const storeText = async (text: string, { message }: { readonly message: string }) => {
   *   await writeFile(`${message}.txt`, text);
   *   return `${message}.txt`;
   * };
   * new Agent({ model, tools, storeText });
   */
  readonly storeText?: StoreText | undefined;
  /**
   * When a long conversation is summed up; `false`: never. Needs a model whose context size is known, or `contextSize`.
   * @example new Agent({ model, compaction: { threshold: 0.6 } });
   */
  readonly compaction?: CompactionOptions | false | undefined;
  /**
   * Memory, and how much of it (default 8 items) within how many milliseconds (default 5,000).
   * @example new Agent({ model, memory: { store: sqliteMemory({ file: "memory.db" }), limit: 4 } });
   */
  readonly memory?:
    | { readonly store: Memory; readonly limit?: number | undefined; readonly timeout?: number | undefined }
    | undefined;
  /**
   * Judges each call; without it every call is allowed.
   * @example new Agent({ model, permission: ({ tool }) => ({ decision: tool.effects === "none" ? "allow" : "ask" }) });
   */
  readonly permission?: Permission | undefined;
  /**
   * Functions around each call. `beforeCall` comes before the rules: it may stop the call, have a person asked, or give it
   * other arguments, which are checked and judged as the model's are. When it allows a call, no person is asked, unless a
   * rule asks for one. What `afterCall` returns is added to what the model is told. When `beforeCall` throws, the call does
   * not run; when `afterCall` throws, nothing is added. `beforeSummary` comes before the model is asked for a summary: it adds
   * words to the request, or denies a summary that a user asks for.
   * @example new Agent({ model, hooks: { afterCall: ({ status }) => (status === "failed" ? "Read the manual." : undefined) } });
   */
  readonly hooks?: CallHooks | undefined;
  /**
   * How many calls of one response run at once, where they may run beside each other. Default 10.
   * @example new Agent({ model, callsAtOnce: 3 });
   */
  readonly callsAtOnce?: number | undefined;
  /**
   * Functions that are told what happens, for a program that does not read the stream.
   * @example new Agent({ model, callbacks: { onCall: (call) => console.log(call.tool, call.status) } });
   */
  readonly callbacks?: Callbacks | undefined;
  /**
   * Says after each turn how the conversation goes on. Without it a chat ends after one turn.
   * @example new Agent({ model, onTurn: (_, agent, turn) => (turn.steps < 9 ? agent.chat(say("Go on.")) : undefined) });
   */
  readonly onTurn?: TurnHandler | undefined;
}

/** When a long conversation is summed up, in parts of the model's context. */
export interface CompactionOptions {
  /**
   * From here on the model is reminded that it may call `shorten_conversation`, if it has that tool. Default 0.65.
   * @example new Agent({ model, tools: [shortenConversation()], compaction: { hint: 0.5 } });
   */
  readonly hint?: number | undefined;
  /**
   * From here on a summary by the model stands for what was said earlier. Default 0.8.
   * @example new Agent({ model, compaction: { threshold: 0.7 } });
   */
  readonly threshold?: number | undefined;
  /**
   * Tokens that a request and its response can have together. Default: what the model's driver says.
   * @example new Agent({ model, compaction: { contextSize: 32_000 } });
   */
  readonly contextSize?: number | undefined;
  /**
   * Tokens of a text, for what no provider has counted yet; asked only where the context may be nearly full, so that a
   * tokenizer can be loaded then. Default: a quarter of its characters.
   * @example new Agent({ model, compaction: { count: (text) => Math.ceil(text.length / 3) } });
   */
  readonly count?: ((text: string) => number | Promise<number>) | undefined;
  /**
   * Makes summaries when the context is nearly full. With `false` only `agent.compact` and the tool
   * `shorten_conversation` make one. Default `true`.
   * @example new Agent({ model, compaction: { automatic: false, instructions: "Keep all prices." } });
   */
  readonly automatic?: boolean | undefined;
  /**
   * The name of the model that writes summaries, for `modelNamed`. The provider then reads nothing of the request from its
   * cache. Default: the model of the turn.
   * @example new Agent({ model, modelNamed: (name) => resolveModel(name), compaction: { model: "openai/gpt-5-mini" } });
   */
  readonly model?: string | undefined;
  /**
   * Words for the model that writes summaries, added to the request for each.
   * @example new Agent({ model, compaction: { instructions: "Keep all prices." } });
   */
  readonly instructions?: string | undefined;
  /**
   * Makes summaries while turns go on, from `hint` on, so that no turn waits for one before its context is full. The model then
   * gets no hint. A summary that a chat has begun goes on after the turn; `session.close()` ends it. Default `true`, unless
   * the model's driver says that its server answers one request at a time.
   * @example new Agent({ model, compaction: { background: false } });
   */
  readonly background?: boolean | undefined;
}

/** Where one turn is taken, and when it is left. */
interface SendOptions extends Omit<ChatOptions, "sharesLimits"> {
  /** Interrupts the turn. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Resolves, with `waiting`, as soon as the turn can do nothing more before a user answers: `turn.questions` are what is asked,
   * and `agent.answer` continues the turn, in any process. A question of a tool that cannot run again (`survives: false`) is
   * waited for. Default `false`.
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

/** Where an answer of a user continues a turn. */
interface AnswerOptions extends Pick<SendOptions, "client" | "signal"> {
  /** The conversation, opened by this process. */
  readonly session: Session;
}

const ANSWER: OptionNames<AnswerOptions> = { session: true, client: true, signal: true };

/** A turn that `send` could not bring to a response. `turn` holds what there is. */
export class TurnError extends Error {
  override readonly name = "TurnError";
  /** That of the `ModelError`, or `limit`, `output` or `defect`. */
  readonly code: TurnProblem["code"];
  /** What there is of the turn: its text, usage and cost. */
  readonly turn: Turn;

  constructor(turn: Turn, problem: TurnProblem) {
    super(problem.message, { cause: problem.cause });
    this.code = problem.code;
    this.turn = turn;
  }
}

/**
 * An agent: a small handle that never changes and does nothing by itself. Making one is cheap: only the names of its
 * options, its model, its memory and its tools are checked then; the values of the other options are checked when it first
 * takes a turn.
 */
export class Agent {
  /** As they were given; frozen. */
  readonly options: AgentOptions;
  #ready: TurnAgent | undefined;
  /** Differs from this one in nothing but its turn handler. */
  // biome-ignore lint/style/useReadonlyClassProperties: `with` sets it, of the agent that it makes.
  #alike: Agent | undefined;

  /**
   * Throws `OptionError` for an unknown option, and for a model or a memory that is not one; `ToolDefinitionError` for a tool
   * that cannot be used, or a schema with a part that cannot, with the place in it.
   */
  constructor(options: AgentOptions) {
    checkOptions(options);
    this.options = Object.freeze({ ...options });
    Object.freeze(this);
  }

  /**
   * What its turns need of it, made once. Throws for options that no turn can have.
   * @internal
   */
  get ready(): TurnAgent {
    // A turn needs no handler, and each turn may bring another one: both agents share what was made ready.
    this.#ready ??= this.#alike ? this.#alike.ready : readyAgent(this);
    return this.#ready;
  }

  /** The same options, one setter at a time. */
  static builder(): AgentBuilder {
    return new AgentBuilder((options) => new Agent(options));
  }

  /** What people and logs call it. */
  get name(): string {
    return this.options.name ?? "agent";
  }

  /** A changed agent; this one stays as it is. */
  with(changes: Partial<AgentOptions>): Agent {
    const changed = new Agent({ ...this.options, ...changes });
    if (Object.keys(changes).every((name) => name === "onTurn")) changed.#alike = this.#alike ?? this;
    return changed;
  }

  /**
   * One stream for a whole conversation: begins with the directive, and goes on with what `onTurn` returns. Does nothing
   * until it is iterated, or returned from a turn handler. Leaving it early interrupts what runs; a turn in which a user is
   * asked waits on in the log.
   */
  chat(directive: Directive, options: ChatOptions = {}): Chat {
    return new Chat(this, directive, options);
  }

  /**
   * Puts a summary by the model in the place of what was said earlier, but for the last few messages, once nothing runs
   * there. Resolves with nothing, or with the reason why everything stays as it was. Rejects with `OptionError` for an
   * agent whose loop keeps its own context.
   */
  compact(options: CompactOptions): Promise<string | undefined> {
    return compactBranch(this, options);
  }

  /**
   * One turn without streaming; `onTurn` is not asked. Rejects with `TurnError` when the model could not respond, or a
   * limit with policy `fail` ended the turn. An abort of `signal` interrupts the turn, which resolves with what there is
   * (`waiting` where a user is asked: the questions stay open, and `resume()` continues the turn);
   * while the turn still waits for its branch, it rejects with `Interruption` and nothing is written.
   */
  async send(content: UserContent, options: SendOptions = {}): Promise<Turn> {
    refuseUnknown("send", options, SEND);
    const { session = Session.inMemory(), id = createId(), ...rest } = options;
    return this.#takeOne(say(content), { ...rest, session, id });
  }

  /**
   * Answers a question of a turn that waits for a user, and continues the turn until it ends or can do nothing more before a
   * user answers (`waiting`): the second half of `send` with `untilAsked`, in this process or another one. The agent is to be
   * made as the one that asked. Rejects as `session.answer` and `send` do, and with `SessionError` (`busy`) when a process
   * still works on the turn: `session.answer` alone answers it then.
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

/** A signal that aborts as soon as the turn that is begun under an id can do nothing more before a user answers. */
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
