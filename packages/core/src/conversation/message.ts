import type { Cost, Usage } from "./usage.ts";

/** Anything that JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * What a provider wants to see again with a part (a reasoning signature, an item id), under the provider's name.
 * Kept as it came; only the driver of that provider reads it.
 */
export type ProviderData = Readonly<Record<string, Readonly<Record<string, Json>>>>;

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly provider?: ProviderData;
}

export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  readonly provider?: ProviderData;
}

/** Where a call stands among the other parts of its message; the call itself is in `calls`. */
export interface CallPart {
  readonly type: "call";
  /** The id of the call. */
  readonly call: string;
  readonly provider?: ProviderData;
}

/** A file in a message: its bytes in base 64, or an address. */
export interface FilePart {
  readonly type: "file";
  readonly mediaType: string;
  readonly name?: string;
  /** Base 64. */
  readonly data?: string;
  readonly url?: string;
}

/** A source that the provider cites. */
export interface SourcePart {
  readonly type: "source";
  readonly url: string;
  readonly title?: string;
}

export type Part = TextPart | ReasoningPart | CallPart | FilePart | SourcePart;

/** What a user message can hold. */
export type UserPart = TextPart | FilePart;

/** Who wrote a user message: a person, a tool (an edit's outcome) or the system (a correction, a limit). */
export type Author = "user" | "tool" | "system";

/**
 * Why an answer ended. `stop`: the model was done. `calls`: it waits for results. `length`: cut by the output limit.
 * `filtered`: cut by the provider's filter. `interrupted`: by a person. `error`: the stream broke.
 */
export type Finish = "stop" | "calls" | "length" | "filtered" | "interrupted" | "error";

/**
 * ```
 * pending ──▶ executing ──▶ completed | failed
 *    │   ╲        ╰───────▶ cancelled
 *    │    ╲▶ approval-requested ──▶ executing | denied | cancelled
 *    ╰────▶ failed | denied | cancelled
 * ```
 */
export type CallStatus =
  | "pending"
  | "approval-requested"
  | "executing"
  | "completed"
  | "failed"
  | "denied"
  | "cancelled";

/** A tool call. Its status and result live here, in the message that asked for it. */
export interface Call {
  readonly id: string;
  readonly tool: string;
  /** What the model wrote, word for word. */
  readonly inputText: string;
  /** The arguments as parsed; absent while they stream and when they are not JSON. */
  readonly input?: Json;
  /** The arguments that ran, when a person changed them before approving. */
  readonly executedInput?: Json;
  readonly status: CallStatus;
  /** How often it was started; 0 before the first time. */
  readonly attempt: number;
  /** What the tool has said so far while it runs: the tail, at most 64 Ki characters. Empties when the call ends. */
  readonly progress: string;
  /** What the model is told; present once the call has ended, and then final. */
  readonly output?: string;
  /** Milliseconds since 1970. */
  readonly startedAt?: number;
  readonly endedAt?: number;
}

interface MessageBase {
  readonly id: string;
  /** `null` for a root. */
  readonly parentId: string | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** Something that memory put in front of the model. */
export interface Recalled {
  readonly text: string;
  /** Where it is from, for people: a conversation, a file, a date. */
  readonly source: string;
}

export interface UserMessage extends MessageBase {
  readonly role: "user";
  readonly author: Author;
  readonly parts: readonly UserPart[];
  /** What memory added for this message. */
  readonly recalled?: readonly Recalled[];
}

export interface AssistantMessage extends MessageBase {
  readonly role: "assistant";
  /** The run that wrote it. */
  readonly run: string;
  /** `provider/model`. */
  readonly model: string;
  /** Grows while the message streams; final once `finish` is there. */
  readonly parts: readonly Part[];
  /** In the order in which the model asked. */
  readonly calls: readonly Call[];
  /** Absent while the message streams. */
  readonly finish?: Finish;
  /** What went wrong, when `finish` is `error`. */
  readonly error?: string;
  readonly usage?: Usage;
  readonly cost?: Cost;
}

/** Stands for everything on its path up to and including `covers`. */
export interface SummaryMessage extends MessageBase {
  readonly role: "summary";
  readonly parts: readonly TextPart[];
  readonly covers: string;
}

/** A node of the conversation tree. */
export type Message = UserMessage | AssistantMessage | SummaryMessage;

export function isEnded(status: CallStatus): boolean {
  return status === "completed" || status === "failed" || status === "denied" || status === "cancelled";
}

/** Whether nothing about the message can change any more. */
export function isSettled(message: Message): boolean {
  if (message.role !== "assistant") return true;
  return message.finish !== undefined && message.calls.every((call) => isEnded(call.status));
}

/** The text of a message, without reasoning. */
export function textOf(message: Message): string {
  let text = "";
  for (const part of message.parts) if (part.type === "text") text += part.text;
  return text;
}

/** A call that the model has begun to write. */
export function newCall(id: string, tool: string): Call {
  return { id, tool, inputText: "", status: "pending", attempt: 0, progress: "" };
}
