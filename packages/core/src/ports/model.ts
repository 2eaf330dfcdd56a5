import type { FilePart, Json, ProviderData, ProviderPart, ReasoningPart, TextPart } from "../conversation/message.ts";
import { cutTo } from "../conversation/shown/visible-text.ts";
import { noUsage, type Price, type Usage } from "../conversation/usage.ts";

/**
 * A language model behind one wire format.
 *
 * Contract of `stream`:
 * - It calls `sink.push` with batches of parts in the order in which the model produced them, as soon as they are there:
 *   one batch for each read of the network, never a promise for each part.
 * - The last part that it pushes is `finish`, exactly once; then it resolves. Nothing is pushed after it resolved.
 * - If the response cannot be had or breaks off, it rejects with a `ModelError`; what was pushed until then stands.
 *   It never retries by itself: the loop does, which knows what was acted on. One exception: a request that was refused
 *   for a part that the provider names is sent again at once without that part.
 * - When `signal` aborts, it ends its request at once and rejects with the signal's reason.
 * - Whatever else comes from the service (headers, a ping, a comment, an event that says nothing) it tells with an empty
 *   batch, so that a model which thinks for long is not taken for one that is gone.
 * - What its format calls the end of a response is the end, although the connection may stay open.
 * - When `push` returns `false`, it stops reading its socket until `sink.ready()` resolves.
 * - One driver serves many streams at once and keeps no state of a conversation. It may keep the encoded form of a
 *   `PromptMessage` by its identity (a `WeakMap`): such a message never changes.
 */
export interface ModelDriver {
  /** `provider/model`, as people write it. */
  readonly id: string;
  /** The wire format, for people and logs: `openai-chat`, `language-model`, `scripted`. */
  readonly family: string;
  /** Unknown when absent; then the cost of its responses is unknown too. */
  readonly price?: Price | undefined;
  /** Tokens that a request and its response can have together. Read it for each request: a server may tell it later. */
  readonly contextSize?: number | undefined;
  /**
   * Where requests go, as `https://api.example.com/v1`. Drivers with one `id` and one address share what the server says about
   * the window of the model. Absent: a driver shares with no other one.
   */
  readonly address?: string | undefined;
  /**
   * Asks the server for `contextSize`, where only the server knows it, and resolves when it has answered or cannot be had:
   * it may load the model for that. Rejects only with the reason of the signal.
   */
  learnContextSize?(signal: AbortSignal): Promise<void>;
  /** Tools that one request may offer; any number when absent. Of more, those before the last eight are left out. */
  readonly maxTools?: number | undefined;
  /** Its server answers one request at a time: no summary is asked for beside a turn. */
  readonly oneAtATime?: true | undefined;
  /**
   * Why its provider never takes a picture, as the end of a sentence; nothing for a picture that it takes, and for any other
   * file. A call that brings such a picture fails, and a message with such a picture is refused.
   */
  readonly pictureProblem?: ((file: FilePart) => string | undefined) | undefined;
  /** What its name says about its responses, such as an effort. The settings of an agent count more, one by one. */
  readonly settings?: ModelSettings | undefined;
  /** Asks for one response and pushes it into the sink. Rejects with a `ModelError`, or with the reason of the signal. */
  stream(request: ModelRequest, sink: ModelSink, signal: AbortSignal): Promise<void>;
}

/** What a model is asked, once for each step. */
export interface ModelRequest {
  /** The system prompt; may be empty. */
  readonly instructions: string;
  /**
   * From the first message to the newest, the same objects from step to step. Read it at once: the array grows later.
   */
  readonly messages: readonly PromptMessage[];
  /** The same array from step to step as long as the tools are the same. */
  readonly tools: readonly ToolSchema[];
  /** `none`: the model must respond without a call. */
  readonly toolChoice: "auto" | "none";
  readonly settings: ModelSettings;
}

/**
 * How a model is to respond. What is absent is the provider's default.
 * @example
 * new Agent({
 *   model,
 *   settings: {
 *     temperature: 0.2,
 *     maxTokens: 2_000,
 *     stop: ["END"],
 *     effort: "low",
 *     providerOptions: { anthropic: { speed: "fast" } },
 *     serverTools: [{ id: "anthropic.web_search_20250305", name: "web_search", args: { maxUses: 3 } }],
 *   },
 * });
 */
export interface ModelSettings {
  /** From 0 to 2. */
  readonly temperature?: number | undefined;
  /** Tokens of one response. */
  readonly maxTokens?: number | undefined;
  /** Texts at which a response ends. */
  readonly stop?: readonly string[] | undefined;
  /** How much the model thinks before it responds, where it can be told. */
  readonly effort?: "none" | "minimal" | "low" | "medium" | "high" | "max" | undefined;
  /** Handed to the provider as they are, under the provider's name. */
  readonly providerOptions?: ProviderData | undefined;
  /** Tools that the provider runs on its side. Those of other providers than the one that is asked are passed over. */
  readonly serverTools?: readonly ServerTool[] | undefined;
}

/** A tool that a provider offers and runs itself, such as its search of the web. */
export interface ServerTool {
  /**
   * As the provider's package of the AI SDK names it: `anthropic.web_search_20250305`. Begins with the provider's name.
   */
  readonly id: `${string}.${string}`;
  /** What the model calls it; no other tool may have the name. */
  readonly name: string;
  /** What the provider lets one set; nothing by default. */
  readonly args?: Readonly<Record<string, Json>> | undefined;
}

/** A tool as the model sees it. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly input: Json;
}

/** A message as a model sees it. Never changes once it was in a request. */
export type PromptMessage =
  | { readonly role: "user"; readonly parts: readonly (TextPart | FilePart)[] }
  | {
      readonly role: "assistant";
      readonly parts: readonly (TextPart | ReasoningPart | ProviderPart | PromptCall)[];
      /** One for each call of `parts`, in the same order. */
      readonly results: readonly PromptResult[];
      /** The model that responded, as `provider/model`; unknown when absent. */
      readonly model?: string;
      /**
       * The response broke off before its end: what the provider keeps of finished responses, it does not keep of this one.
       */
      readonly unfinished?: true;
      /** The provider set its own work down in the middle: when nothing follows, it is to go on with it. */
      readonly paused?: true;
    };

/** A call that the model asked for in an earlier step. */
export interface PromptCall {
  readonly type: "call";
  readonly id: string;
  readonly tool: string;
  /** An object, whatever the model wrote. */
  readonly input: Json;
  readonly provider?: ProviderData;
}

/** What came of a call, in the words that the model is told. */
export interface PromptResult {
  readonly call: string;
  readonly tool: string;
  readonly output: string;
  readonly failed: boolean;
  /** What the model is shown besides, where it can see it; `resultShown` says what of it goes into a request. */
  readonly files?: readonly FilePart[];
}

/** What a model says, piece by piece. */
export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  /**
   * The text or reasoning before is complete; what follows is a new part. Needed only between two of a kind, or to
   * bring `provider`.
   */
  | { readonly type: "part-end"; readonly provider?: ProviderData }
  /** A call begins. `index` names it until it ends; an empty `id` is replaced by the loop. */
  | { readonly type: "call"; readonly index: number; readonly id: string; readonly tool: string }
  | { readonly type: "call-input"; readonly index: number; readonly text: string }
  | { readonly type: "call-end"; readonly index: number; readonly provider?: ProviderData }
  | { readonly type: "source"; readonly url: string; readonly title?: string }
  /** Something that the provider did on its side, whole. */
  | ProviderPart
  /** What the driver left out of the request or changed in it: a sentence for the user. It may come before the response. */
  | { readonly type: "note"; readonly text: string }
  | {
      readonly type: "finish";
      readonly reason: "stop" | "calls" | "length" | "filtered" | "paused";
      readonly usage: Usage;
      /** US dollars, where the service says itself what the response cost: then no price is asked. */
      readonly cost?: number;
      /** The model that responded, when the provider names another than was asked. */
      readonly model?: string;
      /** What the provider says about a refusal or a filter, for people. */
      readonly explanation?: string;
    };

/** Where a driver puts what it reads, at the pace at which it is taken. */
export interface ModelSink {
  /** Takes parts, in order; none of them are a sign of life. `false`: full; wait for `ready`. */
  push(parts: readonly ModelPart[]): boolean;
  /** Resolves when there is room again; at once if there is. */
  ready(): Promise<void>;
}

/**
 * `quota`: what was paid for is used up. `filtered`: a filter of the provider refused the request. `context-overflow`: the request is too long for the model. `unreachable`: there was
 * no connection. `broken-stream`: the response broke off. `stalled`: nothing came for too long. `provider`: it failed for
 * a reason of its own. The others are what they are called.
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

/** UTF-16 units of the message of an error. */
const SENTENCE = 500;

/** One line, cut where it gets long. */
function sentenceOf(message: string): string {
  // What is far too long is not looked through.
  const line = message
    .slice(0, 10 * SENTENCE)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return line.length <= SENTENCE ? line : cutTo(line, SENTENCE - 1);
}

/** A model could not respond. `message` is one sentence of at most 500 characters that says what to do. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly code: ModelErrorCode;
  /** `message` without what to do: for where it is done by itself, as when the model is asked again. */
  readonly fact: string;
  /** HTTP status, where there was one. */
  readonly status: number | undefined;
  /** Milliseconds that the provider asks to wait. */
  readonly retryAfter: number | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Whether the model had responded, so that each further attempt is paid for: it is asked a few times at most. */
  readonly paid: boolean;
  /** All that was said, where `message` does not hold it: for a log, not for people. */
  readonly detail: string | undefined;

  /** @param said What the message is made of: what is wrong, what to do, and the words of whoever told it. */
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
    const sentence = sentenceOf(message);
    super(sentence, details.cause === undefined ? undefined : { cause: details.cause });
    this.detail = details.detail ?? (sentence === message ? undefined : message);
    this.code = code;
    this.fact = sentenceOf(fact + behind);
    this.status = details.status;
    this.retryAfter = details.retryAfter;
    this.retryable = details.retryable ?? RETRYABLE.has(code);
    this.paid = details.paid ?? false;
  }
}

/**
 * Returns what a driver threw as an error of the model. A filter that refuses the request is none: its message ends as that of a
 * filter that cuts the response off (F62).
 */
export function failureOf(thrown: unknown, model: string, sink: ModelSink): ModelError | undefined {
  if (thrown instanceof ModelError) {
    if (thrown.code !== "filtered") return thrown;
    sink.push([{ type: "finish", reason: "filtered", usage: noUsage, explanation: thrown.fact }]);
    return undefined;
  }
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  // The words of a broken program are for a log, not for a user (F67).
  const isDefect = thrown instanceof TypeError || thrown instanceof ReferenceError || thrown instanceof RangeError;
  const said = isDefect ? `The driver of ${model} failed while it read the response; the log says where.` : detail;
  return new ModelError("provider", said, { cause: thrown, retryable: false, ...(isDefect && { detail }) });
}
