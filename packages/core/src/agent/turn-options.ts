import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ResponseBounds } from "../model/response-size.ts";
import type { Goal } from "../ports/goal.ts";
import type { Guards } from "../ports/guards.ts";
import type { CallHooks, Permission } from "../ports/human.ts";
import type { Memory } from "../ports/memory.ts";
import type { ModelDriver, ModelSettings, ToolChoice } from "../ports/model.ts";
import type { RateLimit } from "../ports/rate-limit.ts";
import type { LoopDriver, Tool } from "../ports/tool.ts";
import type { InputSchema } from "../ports/tool-values.ts";
import type { Limits } from "../run/limits.ts";
import type { Callbacks, RetrySettings, StoreText, ToolsFor } from "../run/run.ts";

/**
 * Options of an agent for its turns: all except the turn handler.
 * @example
 * new Agent({
 *   name: "gardener",
 *   description: "Knows plants and their care.",
 *   model: await resolveModel("anthropic/claude-sonnet-4-5"),
 *   modelNamed: (name) => resolveModel(name),
 *   fallbacks: ["openai/gpt-5"],
 *   instructions: "You answer in one sentence.",
 *   tools: [...workspaceTools({ root: "." }), launchAgent()],
 *   context: { userId: "ada" },
 *   settings: { temperature: 0, maxTokens: 1_000 },
 *   limits: { steps: 20, cost: 0.5 },
 *   rateLimit: new RateLimit({ requestsPerMinute: 50 }),
 *   retry: { attempts: 3, idle: 30_000 },
 *   bounds: { answer: 1_000_000, arguments: 100_000 },
 *   mode: "task",
 *   output: { type: "object", required: ["title"] },
 *   goal: { checks: [{ what: "it has a title", run: ({ answer }) => ({ passed: answer.startsWith("# ") }) }] },
 *   unattended: true,
 *   compaction: { threshold: 0.6 },
 *   memory: { store: sqliteMemory({ file: "memory.db" }), limit: 4, cite: true },
 *   permission: ({ tool }) => ({ decision: tool.effects === "none" ? "allow" : "ask" }),
 *   hooks: { afterCall: ({ status }) => (status === "failed" ? "Read the manual." : undefined) },
 *   guards: { output: ({ text }) => (text.includes("secret") ? { refuse: "It is secret." } : undefined) },
 *   callsAtOnce: 3,
 *   callbacks: { onCall: (call) => console.log(call.tool, call.status) },
 * });
 */
export interface TurnOptions<out Result = unknown, in out Context = unknown> {
  /** Name for users and logs. Default `agent`. */
  readonly name?: string | undefined;
  /** The purpose of the agent, for the model of an agent that launches it or hands over to it. */
  readonly description?: string | undefined;
  /** A driver, a language model of an AI SDK package (`@ai-sdk/provider` v4), or a loop that runs whole turns. */
  readonly model: ModelDriver | LanguageModelV4 | LoopDriver;
  /**
   * Returns the model with this name. Called after a user has chosen a model (`model.changed`). Default: the model
   * stays the same.
   */
  readonly modelNamed?: ((name: string) => Promise<ModelDriver | LanguageModelV4 | LoopDriver>) | undefined;
  /**
   * Names of fallback models, for `modelNamed`, in this order. If the model stays overloaded, rate-limited or
   * unreachable, a fallback continues the turn, and the feed reports it (`model.replaced`). The next turn begins with
   * `model` again. While a fallback is left, a failing model is retried for one minute only, unless `retry` sets
   * another time. Default: none.
   */
  readonly fallbacks?: readonly string[] | undefined;
  /** The system prompt. */
  readonly instructions?: string | undefined;
  /** Tools for the model. Their schemas are prepared once per array, so reuse the array. Default: none. */
  readonly tools?: readonly Tool<unknown, unknown, Context>[] | undefined;
  /**
   * A value for the tools, such as the user and a database: `context` of their `ToolContext`. The model does not get
   * it, and the log does not contain it. Sub-agents have the context of their parent. Required if a tool needs a
   * context.
   */
  readonly context?: Context | undefined;
  /**
   * Whether the model must call a tool. `auto` (default): the model chooses. `none`: no calls. `required`: a call of
   * any tool. `{ tool }`: a call of this tool. Only the first call of each turn is forced, so that the turn can end.
   * The turn fails if the model answers without the call. Does not apply to sub-agents.
   * @example new Agent({ model, tools, toolChoice: { tool: "search" } });
   */
  readonly toolChoice?: ToolChoice | undefined;
  /**
   * Returns the names of the tools that the model gets in a step, or nothing for all tools. `step` is the number of the
   * step in the turn, from 1. `messages` is the path from the root to the newest message, read only. Calls of other
   * tools do not run. A task always keeps its own tools, such as `finish_task`. An unknown name fails the turn. Does
   * not apply to sub-agents.
   * @example
   * const toolsFor = ({ step }: { readonly step: number }) => (step === 1 ? ["search"] : undefined);
   * new Agent({ model, tools, toolsFor });
   */
  readonly toolsFor?: ToolsFor | undefined;
  /** Settings for responses. Default: the settings of the model or its provider. */
  readonly settings?: ModelSettings | undefined;
  /** Limits of each turn. Default: 50 steps, and sub-agents nested 3 deep. */
  readonly limits?: Limits | undefined;
  /**
   * Limit on the model calls per minute. Agents with the same object share the limit, also with their sub-agents.
   * Default: none.
   */
  readonly rateLimit?: RateLimit | undefined;
  /** Retries of a failed model call. Default: with growing pauses, for 5 minutes. */
  readonly retry?: RetrySettings | undefined;
  /** Maximum size of a response. Default: 64 Mi characters in all, and 32 Mi for the arguments of a call. */
  readonly bounds?: ResponseBounds | undefined;
  /**
   * `chat` (default): the turn ends when the model asks for no call. `task`: the turn ends only when the model calls
   * `finish_task`. This mode adds the tools `finish_task` and `ask_client`.
   */
  readonly mode?: "chat" | "task" | undefined;
  /**
   * Schema of `turn.result`, with its type, defaults and transforms. In task mode, the model passes the result to
   * `finish_task`. In chat mode, the last response of a turn is the result as JSON. If a result does not match, the
   * model is asked again (`retry.results`); after that, the turn fails with the code `output`.
   * @example
   * const agent = new Agent({ model, output: z.object({ city: z.string(), days: z.number().default(3) }) });
   * const { city, days } = (await agent.send("Three days in Rome, please.")).result;
   */
  readonly output?: InputSchema<Result> | undefined;
  /**
   * The turn is done only if these checks pass. If a check fails, the model continues. After the same failure three
   * times, the turn fails with the code `goal`. Sub-agents do not inherit the goal; an agent that takes over the turn
   * does.
   * @example
   * const hasTitle = { what: "the book has a title", run: ({ answer }: GoalMoment) => ({ passed: answer.startsWith("# ") }) };
   * new Agent({ model, goal: { checks: [hasTitle] } });
   */
  readonly goal?: Goal | undefined;
  /**
   * True if no user can be asked. Questions of tools then get their default answer, and calls that need approval are
   * denied. The limit policy `ask` then acts as `wrap-up`. Default `false`.
   */
  readonly unattended?: boolean | undefined;
  /**
   * Stores the text of a message that is too large for the model, after a user has agreed. Returns the path at which
   * the agent's tools can read the text. If the function throws, the user sees the error. Default: the message is
   * refused.
   * @example
   * const storeText = async (text: string, { message }: { readonly message: string }) => {
   *   await writeFile(`${message}.txt`, text);
   *   return `${message}.txt`;
   * };
   * new Agent({ model, tools, storeText });
   */
  readonly storeText?: StoreText | undefined;
  /** Settings for summaries; `false`: none. The context size of the model must be known, or set as `contextSize`. */
  readonly compaction?: CompactionOptions | false | undefined;
  /**
   * Memory, with the maximum number of recalled entries (default 8) and the timeout in milliseconds (default 5,000).
   * With `cite`, the model marks statements that come from an entry, and `turn.citations` has these entries.
   */
  readonly memory?:
    | {
        readonly store: Memory;
        readonly limit?: number | undefined;
        readonly timeout?: number | undefined;
        readonly cite?: boolean | undefined;
      }
    | undefined;
  /** Judges each call. Default: every call is allowed. */
  readonly permission?: Permission | undefined;
  /**
   * Hooks around each call. `beforeCall` runs before the rules. It can deny the call, demand a question, or change the
   * arguments, which are then checked and judged. If it allows a call, no user is asked unless a rule demands that. The
   * text that `afterCall` returns is added to the call's result. If `beforeCall` throws, the call does not run. If
   * `afterCall` throws, nothing is added. `beforeSummary` adds instructions to the request for a summary, or denies a
   * summary that a user requested.
   */
  readonly hooks?: CallHooks | undefined;
  /** Functions that check the messages of users and the responses of the model. Default: none. */
  readonly guards?: Guards<Context> | undefined;
  /** Maximum number of calls of a response that run in parallel. Default 10. */
  readonly callsAtOnce?: number | undefined;
  /** Functions called on events, for a program that does not read the stream. */
  readonly callbacks?: Callbacks | undefined;
}

/**
 * Settings for compaction. Shares are parts of the model's context, from 0 to 1.
 * @example
 * const compaction: CompactionOptions = {
 *   hint: 0.5,
 *   threshold: 0.7,
 *   contextSize: 32_000,
 *   count: (text) => Math.ceil(text.length / 3),
 *   automatic: true,
 *   model: "openai/gpt-5-mini",
 *   instructions: "Keep all prices.",
 *   background: false,
 * };
 * new Agent({ model, modelNamed: (name) => resolveModel(name), tools: [shortenConversation()], compaction });
 */
export interface CompactionOptions {
  /** Share of the context from which the model is reminded of its tool `shorten_conversation`. Default 0.65. */
  readonly hint?: number | undefined;
  /** Share of the context from which a summary by the model replaces earlier messages. Default 0.8. */
  readonly threshold?: number | undefined;
  /** Maximum tokens of a request and its response together. Default: the number that the model's driver knows. */
  readonly contextSize?: number | undefined;
  /**
   * Counts the tokens of a text that no provider has counted yet. Called only if the context may be nearly full, so the
   * function can load a tokenizer at that time. Default: a quarter of the number of characters.
   */
  readonly count?: ((text: string) => number | Promise<number>) | undefined;
  /**
   * Makes summaries when the context is nearly full. With `false`, only `agent.compact` and the tool
   * `shorten_conversation` make summaries. Default `true`.
   */
  readonly automatic?: boolean | undefined;
  /**
   * Name of the model that writes summaries, for `modelNamed`. Another model cannot use the provider's cache. Default:
   * the model of the turn.
   */
  readonly model?: string | undefined;
  /** Instructions for the model that writes summaries. */
  readonly instructions?: string | undefined;
  /**
   * Makes summaries in the background from `hint` on, so that turns do not wait for a summary. The model then gets no
   * reminder. Such a summary continues after the turn; `session.close()` ends it. Default `true`, unless the driver's
   * server answers only one request at a time.
   */
  readonly background?: boolean | undefined;
}
