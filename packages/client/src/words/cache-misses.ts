import { type CacheMiss, cacheMissCauses, type Message } from "@banyan/core/conversation";
import { inEnglish, type Say } from "@banyan/core/shown";

/** Number of cache misses with the same cause, and the tokens that the provider read again. See {@link cacheMissSums}. */
export interface CacheMissSum {
  readonly cause: CacheMiss["cause"];
  readonly count: number;
  readonly tokens: number;
}

/**
 * Returns the cache misses of messages, summed by cause (V5).
 * @example for (const { cause, count } of cacheMissSums(session.state.messages.values())) console.log(cause, count);
 */
export function cacheMissSums(messages: Iterable<Message>): readonly CacheMissSum[] {
  const misses = [...messages].flatMap((message) => (message.role === "assistant" ? (message.cacheMiss ?? []) : []));
  return cacheMissCauses.flatMap((cause) => {
    const ofCause = misses.filter((miss) => miss.cause === cause);
    const tokens = ofCause.reduce((sum, miss) => sum + miss.tokens, 0);
    return ofCause.length === 0 ? [] : { cause, count: ofCause.length, tokens };
  });
}

/**
 * Describes the cause of a cache miss in a few words.
 * @example cacheMissCause("tools") // "the tools changed"
 */
export function cacheMissCause(cause: CacheMiss["cause"], say: Say = inEnglish): string {
  switch (cause) {
    case "first-request":
      return say("first request");
    case "model":
      return say("the model changed");
    case "tools":
      return say("the tools changed");
    case "instructions":
      return say("the instructions changed");
    case "settings":
      return say("the settings changed");
    case "compaction":
      return say("the conversation was compacted");
    case "pause":
      return say("more than 5 minutes passed");
    case "provider":
      return say("the provider kept no cache");
  }
}

/**
 * Describes the cache misses of a response or a turn. Empty if there is no miss. The miss of a first request is
 * expected and left out.
 * @example cacheMissText(pathTo(session.state, session.state.leaf)) // "cache miss: the tools changed, 4,000 tokens again"
 */
export function cacheMissText(messages: Iterable<Message>, say: Say = inEnglish): string {
  const sums = cacheMissSums(messages).filter(({ cause }) => cause !== "first-request");
  return sums
    .map(({ cause, tokens }) =>
      say("cache miss: {cause}, {tokens} tokens again", { cause: cacheMissCause(cause, say), tokens }),
    )
    .join(" · ");
}
