import type { ModelSettings } from "@banyan/core";
import { type ModelRequest, PDF, PICTURES, type PromptMessage } from "@banyan/core/drivers";
import { CACHE_MARK } from "../families/anthropic.ts";
import { BEGIN, type EncodedMessage, encode, PROVIDER } from "./messages.ts";

// Messages never change, so that they are encoded once for as long as they live, whichever driver asks; with files in results
// it depends on what the model takes.
const encodings = new WeakMap<
  PromptMessage,
  { readonly encoded: EncodedMessage | undefined; readonly takes?: readonly string[] }
>();

/** Files that Anthropic's models take in results, where nobody says otherwise. */
const TAKEN: readonly string[] = [...PICTURES, PDF];

/** The messages of a request. */
export interface Messages {
  /** One after the other the bytes of JSON, with a comma before each message. */
  readonly pieces: readonly Uint8Array[];
  readonly pdf: boolean;
}

/**
 * The messages of a request in Anthropic's format (https://docs.claude.com/en/api/messages). Each is encoded the first
 * time that it is seen; after that its bytes are joined in. Neighbours of one side become one message, and up to where
 * Anthropic is to cache the request is marked, as `markForCache` has it.
 *
 * Returns `undefined` for a request that only the provider's package can write: one with tools that Anthropic runs, or
 * with what they did, with options that change more than the head of a request, with files of rarer kinds, or one that
 * Anthropic is to go on with where the model stopped.
 */
export function encodeMessages(
  { messages, settings }: ModelRequest,
  takes: readonly string[] = TAKEN,
): Messages | undefined {
  if (!isPlain(settings)) return undefined;
  const encoded: EncodedMessage[] = [];
  for (const message of messages) {
    const one = encodedOnce(message, takes);
    if (!one) return undefined;
    encoded.push(one);
  }
  return join(encoded, firstMark(encoded, settings));
}

/** Options that shape the head of a request and nothing else. */
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

function isPlain({ serverTools = [], providerOptions = {} }: ModelSettings): boolean {
  return (
    serverTools.every(({ id }) => !id.startsWith(`${PROVIDER}.`)) &&
    Object.keys(providerOptions[PROVIDER] ?? {}).every((option) => HEAD_OPTIONS.has(option))
  );
}

function encodedOnce(message: PromptMessage, takes: readonly string[]): EncodedMessage | undefined {
  let known = encodings.get(message);
  if (!known || (known.takes ?? takes) !== takes) {
    const encoded = encode(message, takes);
    const hasFiles = message.role === "assistant" && message.results.some(({ files }) => files);
    known = hasFiles ? { encoded, takes } : { encoded };
    encodings.set(message, known);
  }
  return known.encoded;
}

/** From which message on all that is not the model's is marked: the last two. A user who sets marks gets none of ours. */
function firstMark(encoded: readonly EncodedMessage[], { providerOptions }: ModelSettings): number {
  let first = encoded.length;
  let left = providerOptions?.[PROVIDER]?.cacheControl === undefined ? 2 : 0;
  while (left > 0 && first > 0) {
    first--;
    if (encoded[first]?.user !== undefined) left--;
  }
  return first;
}

/** In place of the end of a message: of its last block, of its blocks, and its own. */
const MARKED = Buffer.from(`,"cache_control":${JSON.stringify(CACHE_MARK)}}]}`);
const COMMA = Buffer.from(",");

function join(encoded: readonly EncodedMessage[], firstMarked: number): Messages | undefined {
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
    // An answer of which nothing can be shown still stands between two messages of the user.
    else if (assistant && last === "user") last = undefined;
    if (user) add("user", index < firstMarked ? user : Buffer.concat([user.subarray(0, -3), MARKED]));
    pdf ||= has;
  });
  return last === "assistant" ? undefined : { pieces, pdf };
}
