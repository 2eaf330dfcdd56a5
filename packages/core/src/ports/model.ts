import { errorMessage } from "../conversation/error-message.ts";
import type { OptionNames } from "../conversation/option-names.ts";
import type { FilePart, Json, ProviderData, ProviderPart, ReasoningPart, TextPart } from "../conversation/part.ts";
import { cutTo } from "../conversation/shown/visible-text.ts";
import { noUsage, type Price, type Usage } from "../conversation/usage.ts";

/**
 * The values of the setting `effort`, the lowest first.
 * @example const names = efforts.map((effort) => `sonnet:${effort}`);
 */
export const efforts = ["none", "minimal", "low", "medium", "high", "max"] as const;

/**
 * A language model behind one wire format. Contract of `stream`:
 * - It calls `sink.push` with batches of parts, in order and as soon as they arrive: one batch for each read of the
 * network, never a promise for each part.
 * - The last part is `finish`, exactly once. Then `stream` resolves, and pushes nothing more.
 * - It rejects with a `ModelError` if the response fails or breaks off. Earlier parts stay valid. It never retries,
 * because only the loop knows which calls or followers used the response. One exception: if the provider refuses a part
 * of the request by name, the request is sent again at once without this part.
 * - When `signal` aborts, it ends its request at once and rejects with the signal's reason.
 * - It pushes an empty batch for any other data (headers, a ping, a comment), so that a model that thinks for long does
 * not seem to be disconnected.
 * - The response ends where its format says so, even if the connection stays open.
 * - When `push` returns `false`, it stops reading its socket until `sink.ready()` resolves.
 * - One driver serves many streams at once and keeps no state of a conversation. It may cache the encoded form of a
 * `PromptMessage` by identity (a `WeakMap`), because such a message never changes. See {@link askModel}.
 */
export interface ModelDriver {
  /** The id `provider/model`, as users write it. */
  readonly id: string;
  /** The wire format, for users and logs: `openai-chat`, `language-model`, `scripted`. */
  readonly family: string;
  /** The price. Absent: the cost of responses is unknown. */
  readonly price?: Price | undefined;
  /**
   * Maximum tokens of a request and its response together. It is read for each request, because it can become known
   * later.
   */
  readonly contextSize?: number | undefined;
  /**
   * Address of requests, such as `https://api.example.com/v1`. The window that a server reported applies to all drivers
   * with the same `id` and address. Absent: the driver shares nothing.
   */
  readonly address?: string | undefined;
  /**
   * Asks the server for `contextSize` if only the server knows it. Resolves after the answer or a failure. The server
   * may load the model for this. Rejects only with the reason of the signal.
   */
  learnContextSize?(signal: AbortSignal): Promise<void>;
  /** Maximum number of tools in one request. If there are more, tools before the last eight are left out. */
  readonly maxTools?: number | undefined;
  /** Set if the server answers only one request at a time. Then no summary is requested during a turn. */
  readonly oneAtATime?: true | undefined;
  /**
   * Returns the reason why the provider never accepts an image, as the end of a sentence. Returns nothing for accepted
   * images and for other files. A call or message with such an image is refused.
   */
  readonly pictureProblem?: ((file: FilePart) => string | undefined) | undefined;
  /** Settings that the model's name contains, such as an effort. The agent's own settings override them. */
  readonly settings?: ModelSettings | undefined;
  /** Returns the input tokens of a request, as an endpoint of the provider counts them. Rejects as `stream` does. */
  countTokens?(request: ModelRequest, signal: AbortSignal): Promise<number>;
  /** Pushes one response into the sink. Rejects with a `ModelError`, or with the reason of the signal. */
  stream(request: ModelRequest, sink: ModelSink, signal: AbortSignal): Promise<void>;
}

/** The request to a model, once per step. See {@link askModel}. */
export interface ModelRequest {
  /** The system prompt; may be empty. */
  readonly instructions: string;
  /**
   * All messages, the oldest first. Each step passes the same objects. Read the array at once, because it grows later.
   */
  readonly messages: readonly PromptMessage[];
  /** The tools. Each step passes the same array as long as the tools are the same. */
  readonly tools: readonly ToolSchema[];
  readonly toolChoice: ToolChoice;
  readonly settings: ModelSettings;
  /**
   * JSON Schema that the text of a response without calls must match. The same object in each step. The instructions
   * contain the schema too, so a driver can ignore this field. Absent: any text.
   */
  readonly output?: Json | undefined;
}

/**
 * Whether the model must call a tool. `auto`: the model decides. `none`: no call. `required`: at least one call. `{
 * tool }`: at least one call of this tool. See {@link askModel}.
 */
export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string };

/**
 * Settings for responses. The provider's default applies to absent settings. `topP`, `seed` and `stop` fail with a
 * `ModelError` (`invalid-request`) if the model does not support them.
 * @example
 * new Agent({
 *   model,
 *   settings: {
 *     temperature: 0.2,
 *     topP: 0.9,
 *     seed: 7,
 *     maxTokens: 2_000,
 *     stop: ["END"],
 *     effort: "low",
 *     cacheKey: "guide-berlin",
 *     providerOptions: { anthropic: { speed: "fast" } },
 *     serverTools: [{ id: "anthropic.web_search_20250305", name: "web_search", args: { maxUses: 3 } }],
 *   },
 * });
 */
export interface ModelSettings {
  /** From 0 to 2. */
  readonly temperature?: number | undefined;
  /** Nucleus sampling, from 0 to 1: only the most likely tokens with this share of the probability count. */
  readonly topP?: number | undefined;
  /** A whole number. With the same seed, the same request mostly gets the same response. */
  readonly seed?: number | undefined;
  /** Maximum tokens of one response. */
  readonly maxTokens?: number | undefined;
  /** Texts at which a response ends. The response does not contain the text, and is complete. */
  readonly stop?: readonly string[] | undefined;
  /** How much the model reasons before it responds, for models that support it. */
  readonly effort?: (typeof efforts)[number] | undefined;
  /**
   * Name of the prompt cache, for requests with the same beginning, such as an agent's requests. OpenAI, Azure, xAI and
   * Mistral get it as `prompt_cache_key`, unless `providerOptions` has a key. Other providers do not get it. Use no
   * personal data.
   */
  readonly cacheKey?: string | undefined;
  /** Passed to the provider unchanged, under the provider's name. */
  readonly providerOptions?: ProviderData | undefined;
  /** Tools that the provider runs itself. Tools of other providers are ignored. */
  readonly serverTools?: readonly ServerTool[] | undefined;
}

/**
 * The names of all settings of a model, with the kinds of their values, for `refuseUnknown`.
 * @example refuseUnknown("my driver", { maxTokens: 100 }, settingNames, "settings.");
 */
export const settingNames: OptionNames<ModelSettings> = {
  temperature: "number",
  topP: "number",
  seed: "number",
  maxTokens: "number",
  stop: "list",
  effort: true,
  cacheKey: "string",
  providerOptions: "object",
  serverTools: "list",
};

/** A tool that a provider offers and runs itself, such as its web search. See {@link ModelSettings}. */
export interface ServerTool {
  /** Id in the provider's package of the AI SDK: `anthropic.web_search_20250305`. Begins with the provider's name. */
  readonly id: `${string}.${string}`;
  /** Name for the model, unique among all tools. */
  readonly name: string;
  readonly args?: Readonly<Record<string, Json>> | undefined;
}

/** A tool as the model sees it. See {@link askModel}. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly input: Json;
}

/** A message as a model sees it. The message never changes after the first request with it. See {@link promptFrom}. */
export type PromptMessage =
  | { readonly role: "user"; readonly parts: readonly (TextPart | FilePart)[] }
  | {
      readonly role: "assistant";
      readonly parts: readonly (TextPart | ReasoningPart | ProviderPart | PromptCall)[];
      /** The results: one for each call of `parts`, in the same order. */
      readonly results: readonly PromptResult[];
      /** The model that responded, as `provider/model`. Absent: unknown. */
      readonly model?: string;
      /** Set if the response broke off. In this case, the provider stored none of the response's items. */
      readonly unfinished?: true;
      /** Set if the provider paused its own work. If this is the last message, the provider must then continue it. */
      readonly paused?: true;
    };

/** A call that the model asked for in an earlier step. See {@link promptFrom}. */
export interface PromptCall {
  readonly type: "call";
  readonly id: string;
  readonly tool: string;
  /** Always an object, even if the model wrote another value. */
  readonly input: Json;
  readonly provider?: ProviderData;
}

/** The result of a call, as the model gets it. See {@link encodableResult}. */
export interface PromptResult {
  readonly call: string;
  readonly tool: string;
  readonly output: string;
  readonly failed: boolean;
  /** Files for models that can see them. `resultShown` returns the files for a request. */
  readonly files?: readonly FilePart[];
}

/**
 * A piece of a model's response, as a driver pushes it: text, reasoning, a call, a source, a note or the end.
 * See {@link parts}.
 */
export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  /** Ends the last text or reasoning part. Needed only between parts of the same kind, or to pass `provider`. */
  | { readonly type: "part-end"; readonly provider?: ProviderData }
  /** A call begins. `index` identifies it until its end. The loop replaces an empty `id`. */
  | { readonly type: "call"; readonly index: number; readonly id: string; readonly tool: string }
  | { readonly type: "call-input"; readonly index: number; readonly text: string }
  | { readonly type: "call-end"; readonly index: number; readonly provider?: ProviderData }
  | { readonly type: "source"; readonly url: string; readonly title?: string }
  /** A complete action of the provider on its side. */
  | ProviderPart
  /** A sentence for the user about a part of the request that was changed or left out. May precede the response. */
  | { readonly type: "note"; readonly text: string }
  | {
      readonly type: "finish";
      readonly reason: "stop" | "calls" | "length" | "filtered" | "paused";
      readonly usage: Usage;
      /** US dollars, if the service itself reports the cost. The price is then not used. */
      readonly cost?: number;
      /** The model that responded, if the provider names another model than the requested one. */
      readonly model?: string;
      /** The provider's explanation of a refusal or a filter, for users. */
      readonly explanation?: string;
    };

/** Receives the parts of a response from a driver. Can make the driver wait. See {@link withProviderRules}. */
export interface ModelSink {
  /** Receives parts in order. An empty batch is a sign of life. Returns `false` when full: then wait for `ready`. */
  push(parts: readonly ModelPart[]): boolean;
  /** Resolves when there is room; at once if there is room now. */
  ready(): Promise<void>;
}

/**
 * Kind of failure of a model call. `quota`: the paid quota is used up. `filtered`: the provider's filter refused the
 * request. `context-overflow`: the request is too long for the model. `unreachable`: no connection. `broken-stream`:
 * the response broke off. `stalled`: no data for too long. `provider`: the provider failed for another reason.
 * See {@link ModelError}.
 */
export type ModelErrorCode =
  | "authentication"
  | "rate-limit"
  | "overloaded"
  | "quota"
  | "filtered"
  | "context-overflow"
  | "unknown-model"
  | "invalid-request"
  | "unreachable"
  | "broken-stream"
  | "stalled"
  | "provider";

const RETRYABLE: ReadonlySet<ModelErrorCode> = new Set([
  "rate-limit",
  "overloaded",
  "unreachable",
  "broken-stream",
  "stalled",
  "provider",
]);

const SENTENCE = 500;

function errorLine(message: string): string {
  // Bounds the work for very long messages.
  const line = message
    .slice(0, 10 * SENTENCE)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return line.length <= SENTENCE ? line : cutTo(line, SENTENCE - 1);
}

/**
 * Error of a model call. `message` is one sentence of at most 500 characters, with advice.
 * @example throw new ModelError("overloaded", "Try again later.");
 */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly code: ModelErrorCode;
  /** The text of `message` without advice. For failures that are handled automatically, such as by a retry. */
  readonly fact: string;
  readonly status: number | undefined;
  /** Milliseconds for which the provider asks the client to wait. */
  readonly retryAfter: number | undefined;
  /** True if the same request may succeed later. */
  readonly retryable: boolean;
  /** True if the model had begun to respond. Further attempts then cost money, so they are limited to a few. */
  readonly paid: boolean;
  /** The full message, if `message` is a shortened form of it. For logs, not for users. */
  readonly detail: string | undefined;

  /** @param said Parts of the message: the fact, the advice, and the original words of the source. */
  constructor(
    code: ModelErrorCode,
    said: string | { readonly fact: string; readonly advice: string; readonly words?: string | undefined },
    details: {
      cause?: unknown;
      status?: number;
      retryAfter?: number;
      retryable?: boolean;
      paid?: boolean;
      detail?: string;
    } = {},
  ) {
    const { fact, advice = "", words = "" } = typeof said === "string" ? { fact: said } : said;
    const behind = words === "" ? "" : ` (${words})`;
    const message = `${fact}${advice === "" ? "" : `; ${advice}`}${behind}`;
    const sentence = errorLine(message);
    super(sentence, details.cause === undefined ? undefined : { cause: details.cause });
    this.detail = details.detail ?? (sentence === message ? undefined : message);
    this.code = code;
    this.fact = errorLine(fact + behind);
    this.status = details.status;
    this.retryAfter = details.retryAfter;
    this.retryable = details.retryable ?? RETRYABLE.has(code);
    this.paid = details.paid ?? false;
  }
}

/**
 * Converts a driver's exception to a `ModelError`. Returns nothing if a filter refused the request: the assistant
 * message then ends as if a filter had cut the response (F62).
 */
export function modelFailure(thrown: unknown, model: string, sink: ModelSink): ModelError | undefined {
  if (thrown instanceof ModelError) {
    if (thrown.code !== "filtered") return thrown;
    sink.push([{ type: "finish", reason: "filtered", usage: noUsage, explanation: thrown.fact }]);
    return undefined;
  }
  const detail = errorMessage(thrown);
  // Messages of program defects are for logs, not for users (F67).
  const isDefect = thrown instanceof TypeError || thrown instanceof ReferenceError || thrown instanceof RangeError;
  const said = isDefect ? `The driver of ${model} failed while it read the response. The log has the details.` : detail;
  return new ModelError("provider", said, { cause: thrown, retryable: false, ...(isDefect && { detail }) });
}
