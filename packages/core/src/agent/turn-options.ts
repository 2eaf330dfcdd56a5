import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ResponseBounds } from "../model/response-size.ts";
import type { CallHooks, Permission } from "../ports/human.ts";
import type { Memory } from "../ports/memory.ts";
import type { ModelDriver, ModelSettings } from "../ports/model.ts";
import type { LoopDriver, Tool } from "../ports/tool.ts";
import type { InputSchema } from "../ports/tool-values.ts";
import type { Limits } from "../run/limits.ts";
import type { Callbacks, RetrySettings, StoreText } from "../run/run.ts";

/** Options of an agent for its turns: all except the turn handler. */
export interface TurnOptions {
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
