import type { ModelSettings } from "@banyan/core";
import { type ModelRequest, PDF, PICTURES, type PromptMessage } from "@banyan/core/drivers";
import { CACHE_MARK } from "../families/anthropic.ts";
import { encodeText, joinBytes } from "../wire/bytes.ts";
import { BEGIN, type EncodedMessage, encodeAnthropicMessage, PROVIDER } from "./messages.ts";

// Messages never change, so each is encoded once for all drivers. The media types matter only for files in results.
const encodings = new WeakMap<
  PromptMessage,
  { readonly encoded: EncodedMessage | undefined; readonly takes?: readonly string[] }
>();

/** Default media types of files in tool results. */
const TAKEN: readonly string[] = [...PICTURES, PDF];

/** The encoded messages of a request. */
export interface Messages {
  /** JSON bytes in order, with a comma before each message. */
  readonly pieces: readonly Uint8Array[];
  readonly pdf: boolean;
}

/**
 * Encodes the messages of a request in Anthropic's format (https://docs.claude.com/en/api/messages). Marks the end of
 * its cacheable parts as `markForCache` does. Adjacent messages of one role become one. Returns `undefined` if only the
 * provider's package can write the request: for tools that Anthropic runs, unusual options, rare files, or a partial
 * answer to continue.
 */
export function encodeMessages(
  { messages, settings }: ModelRequest,
  takes: readonly string[] = TAKEN,
): Messages | undefined {
  if (!hasPlainSettings(settings)) return undefined;
  const encoded: EncodedMessage[] = [];
  for (const message of messages) {
    const one = encodedAnthropicMessage(message, takes);
    if (!one) return undefined;
    encoded.push(one);
  }
  return joinEncodedMessages(encoded, firstMark(encoded, settings));
}

/** Options that only affect the head of a request. */
const HEAD_OPTIONS: ReadonlySet<string> = new Set([
  "anthropicBeta",
  "cacheControl",
  "disableParallelToolUse",
  "effort",
  "inferenceGeo",
  "metadata",
  "serviceTier",
  "speed",
  "taskBudget",
  "thinking",
  "toolStreaming",
]);

function hasPlainSettings({ serverTools = [], providerOptions = {} }: ModelSettings): boolean {
  return (
    serverTools.every(({ id }) => !id.startsWith(`${PROVIDER}.`)) &&
    Object.keys(providerOptions[PROVIDER] ?? {}).every((option) => HEAD_OPTIONS.has(option))
  );
}

function encodedAnthropicMessage(message: PromptMessage, takes: readonly string[]): EncodedMessage | undefined {
  let known = encodings.get(message);
  if (!known || (known.takes ?? takes) !== takes) {
    const encoded = encodeAnthropicMessage(message, takes);
    const hasFiles = message.role === "assistant" && message.results.some(({ files }) => files);
    known = hasFiles ? { encoded, takes } : { encoded };
    encodings.set(message, known);
  }
  return known.encoded;
}

/** The first message for cache marks: the last two user messages get one. If the user sets marks, ours are left out. */
function firstMark(encoded: readonly EncodedMessage[], { providerOptions }: ModelSettings): number {
  let first = encoded.length;
  let left = providerOptions?.[PROVIDER]?.cacheControl === undefined ? 2 : 0;
  while (left > 0 && first > 0) {
    first--;
    if (encoded[first]?.user !== undefined) left--;
  }
  return first;
}

/** The end of a message with a cache mark on its last block. */
const MARKED = encodeText(`,"cache_control":${JSON.stringify(CACHE_MARK)}}]}`);
const COMMA = encodeText(",");

function joinEncodedMessages(encoded: readonly EncodedMessage[], firstMarked: number): Messages | undefined {
  const pieces: Uint8Array[] = [];
  let pdf = false;
  let last: keyof typeof BEGIN | undefined;
  const add = (role: keyof typeof BEGIN, message: Uint8Array) => {
    const before = pieces.at(-1);
    if (last === role && before) {
      pieces.splice(-1, 1, before.subarray(0, -2), COMMA, message.subarray(BEGIN[role].length));
    } else pieces.push(message);
    last = role;
  };
  encoded.forEach(({ assistant, user, pdf: has = false }, index) => {
    if (assistant && assistant.length > 0) add("assistant", assistant);
    // An answer without visible content still separates two user messages.
    else if (assistant && last === "user") last = undefined;
    if (user) add("user", index < firstMarked ? user : joinBytes([user.subarray(0, -3), MARKED]));
    pdf ||= has;
  });
  return last === "assistant" ? undefined : { pieces, pdf };
}
