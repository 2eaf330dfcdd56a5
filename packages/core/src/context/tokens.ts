import type { Message } from "../conversation/message.ts";
import { textOf } from "../conversation/message.ts";
import { summaryTexts } from "../conversation/shown/kept-words.ts";
import { afterSummary, isShortening, isSummary } from "../conversation/tree/path.ts";
import { totalTokens } from "../conversation/usage.ts";
import { orAborted } from "../model/alarm.ts";
import type { PromptMessage } from "../ports/model.ts";
import { byteLength } from "../ports/runtime.ts";
import type { Compaction, CountTokens, TurnAgent, TurnRun } from "../run/run.ts";

/** Size of a request: the number of tokens that a provider counted, and the texts that no provider has counted yet. */
export interface ContextUsage {
  readonly counted: number;
  readonly uncounted: readonly string[];
  /** True if the provider's count is less than half, or more than twice, our own rough count. */
  readonly doubted?: "few" | "many";
}

/** Above this share of the context, a turn waits for its summary, and a refusal without reason means "too long". */
export const NEARLY_FULL = 0.9;

export function estimate(text: string): number {
  return Math.ceil(text.length / 4);
}

/**
 * Returns the size of the next request: the tokens that the provider counted for the last request, and the texts added
 * since then. If our own estimate is more than twice that count, it replaces the count (F97).
 */
export function contextUsage({ branch, agent }: TurnRun): ContextUsage {
  const taken = countedBy(branch.path, agent);
  // If the tools alone exceed the window, the window's size is as doubtful as the count.
  if (taken.counted === 0 || headBytes(agent) >= (agent.compaction?.contextSize ?? 0) * BYTES) return taken;
  const own = roughCount(branch.prompt(), agent) - roughly(taken.uncounted);
  const counted = Math.max(taken.counted, Math.ceil(own));
  if (own <= taken.counted * 2 && taken.counted <= own * 2) {
    return agent.compaction?.wasRefused ? { ...taken, counted } : taken;
  }
  const doubted = taken.counted < own ? "few" : "many";
  return { ...taken, counted, doubted };
}

function countedBy(path: readonly Message[], { instructions, toolbox }: TurnAgent): ContextUsage {
  const uncounted: string[] = [];
  for (let i = path.length - 1; i >= 0; i--) {
    const message = path[i] as Message;
    if (isSummary(message) || isShortening(message)) {
      uncounted.push(...promptTextsOfPath(path.slice(0, i + 1)));
      break;
    }
    if (message.role === "assistant" && message.usage && message.usage.input > 0) {
      uncounted.push(...callOutputs(message));
      return { counted: totalTokens(message.usage), uncounted };
    }
    uncounted.push(...promptTexts(message));
  }
  return { counted: 0, uncounted: [...uncounted, instructions.text, toolbox.text] };
}

const bytesOf = new WeakMap<object, number>();

function countedSize<T extends object>(counted: T, textsOf: (counted: T) => readonly string[]): number {
  let bytes = bytesOf.get(counted);
  if (bytes === undefined) {
    bytes = textsOf(counted).reduce((sum, text) => sum + byteLength(text), 0);
    bytesOf.set(counted, bytes);
  }
  return bytes;
}

/** Progress of the byte count of a prompt array, which only grows. */
const summed = new WeakMap<readonly PromptMessage[], { messages: number; bytes: number }>();

/** Estimates the tokens of a request: one token for four bytes of text. */
export function roughCount(prompt: readonly PromptMessage[], agent: TurnAgent): number {
  const sum = summed.get(prompt) ?? { messages: 0, bytes: 0 };
  summed.set(prompt, sum);
  for (; sum.messages < prompt.length; sum.messages++) {
    sum.bytes += countedSize(prompt[sum.messages] as PromptMessage, textsInPrompt);
  }
  return Math.ceil((sum.bytes + headBytes(agent)) / BYTES);
}

function headBytes({ instructions, toolbox }: TurnAgent): number {
  return countedSize(instructions, ({ text }) => [text]) + countedSize(toolbox, ({ text }) => [text]);
}

const BYTES = 4;

function roughly(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + byteLength(text), 0) / BYTES;
}

function textsInPrompt(message: PromptMessage): string[] {
  const texts = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  if (message.role === "user") return texts;
  const inputs = message.parts.flatMap((part) => (part.type === "call" ? [JSON.stringify(part.input)] : []));
  return [...texts, ...inputs, ...message.results.map(({ output }) => output)];
}

/** Estimates the tokens of the next request from the number that the provider counted for the last request. */
export function requestTokens(run: TurnRun): number {
  const { counted, uncounted } = contextUsage(run);
  return uncounted.reduce((sum, text) => sum + estimate(text), counted);
}

/** Returns the largest possible token count of a request: one token per byte of texts that no provider counted. */
export function upperBound({ counted, uncounted }: ContextUsage): number {
  return uncounted.reduce((sum, text) => sum + byteLength(text), counted);
}

/** The settings for summaries, with the context size of the model. */
export type SizedCompaction = Compaction & { readonly contextSize: number };

/** Returns true if a request is below all thresholds, whichever way its tokens are counted. */
export function fitsByAnyCount(taken: ContextUsage, { contextSize, threshold, hint }: SizedCompaction): boolean {
  return upperBound(taken) < contextSize * Math.min(hint, threshold);
}

export async function countContextTokens(
  { counted, uncounted }: ContextUsage,
  count: CountTokens,
  signal: AbortSignal,
): Promise<number> {
  let tokens = counted;
  for (const text of uncounted) tokens += await orAborted(count(text), signal);
  return tokens;
}

/** Awaits `counting` and returns its result. Returns nothing once the run is aborted. */
export async function untilAborted<T>({ signal }: TurnRun, counting: (signal: AbortSignal) => Promise<T>) {
  try {
    return await counting(signal);
  } catch (error) {
    if (error !== signal.reason) throw error;
    return undefined;
  }
}

export function promptTextsOfPath(path: readonly Message[]): string[] {
  return afterSummary(path).flatMap((message) =>
    isSummary(message) ? summaryTexts(message, path) : promptTexts(message),
  );
}

/** Returns the texts of a message that the model sees. The message must not be a summary. */
export function promptTexts(message: Message): string[] {
  if (message.role !== "assistant") return [textOf(message)];
  return [textOf(message), ...message.calls.map(({ inputText }) => inputText), ...callOutputs(message)];
}

function callOutputs(message: Message): string[] {
  return message.role === "assistant" ? message.calls.map(({ output = "" }) => output) : [];
}
