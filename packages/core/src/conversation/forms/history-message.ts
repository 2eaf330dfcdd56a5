import { isTooDeep, writtenInput } from "../checked/written-input.ts";
import type { FilePart, Json, ProviderData, ReasoningPart, SourcePart, TextPart, UserPart } from "../part.ts";
import { isJsonRecord } from "../shape-problem.ts";

/** A message of a history. Banyan reads and writes the messages of all formats through this type, in order. */
export type HistoryMessage = HistoryUserMessage | HistoryResponse;

/** A user message. `id` is present for a message of a session. */
export interface HistoryUserMessage {
  readonly role: "user";
  readonly id?: string;
  readonly parts: readonly UserPart[];
}

/** A response of a model. A session adds `id`, and the same `turn` for all responses of one turn. */
export interface HistoryResponse {
  readonly role: "assistant";
  readonly id?: string;
  readonly turn?: string;
  readonly parts: readonly HistoryPart[];
}

/** A part of a response. */
export type HistoryPart = TextPart | ReasoningPart | FilePart | SourcePart | HistoryCall;

/** A tool call of a response. */
export interface HistoryCall {
  readonly type: "call";
  readonly id: string;
  readonly tool: string;
  /** The arguments as the history has them; `input` is absent if they are not JSON. */
  readonly inputText: string;
  readonly input?: Json;
  readonly provider?: ProviderData;
  /** The result of the call. Absent if the history contains no result. */
  readonly result?: HistoryResult;
}

/** The result of a call in a history. */
export interface HistoryResult {
  /** The outcome of the call. `denied`: a user denied the call. */
  readonly status: "completed" | "failed" | "denied";
  readonly output: string;
  /** The result for models, if it differs. */
  readonly modelOutput?: string;
  /** Files of the result, each with its bytes. */
  readonly files: readonly FilePart[];
}

/** Returns the value of a call's arguments; nothing if they are not JSON, or nested too deeply. */
export function parsedInput(inputText: string): { readonly input?: Json } {
  if (isTooDeep(inputText)) return {};
  try {
    return { input: JSON.parse(inputText) as Json };
  } catch {
    // The model wrote arguments that are not JSON. The history keeps them as they are.
    return {};
  }
}

/**
 * Returns the parts of these kinds, and the reasoning before each of them. Providers refuse a response that ends with
 * reasoning.
 */
export function partsForModel(
  parts: readonly HistoryPart[],
  kinds: readonly HistoryPart["type"][],
): readonly HistoryPart[] {
  const last = parts.findLastIndex(({ type }) => kinds.includes(type));
  return parts.slice(0, last + 1).filter(({ type }) => type === "reasoning" || kinds.includes(type));
}

/** The text of a message that consists of one plain text. Formats write such a message as a string. */
export function soleText([part, ...others]: readonly (UserPart | HistoryPart)[]): string | undefined {
  return part?.type === "text" && others.length === 0 && part.provider === undefined ? part.text : undefined;
}

/** The result for models that require a result for each call. */
export function resultOf({ result }: HistoryCall): HistoryResult {
  if (!result) return { status: "failed", output: "(This call has no result yet.)", files: [] };
  const { modelOutput = result.output } = result;
  return { ...result, output: modelOutput };
}

/** The arguments for formats that require an object. */
export function inputObject({ inputText }: HistoryCall): Readonly<Record<string, Json>> {
  const input = writtenInput(inputText);
  return isJsonRecord<Readonly<Record<string, Json>>>(input) ? input : {};
}
