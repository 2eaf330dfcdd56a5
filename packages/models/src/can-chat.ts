import type { ModelInfo } from "@pydantic/genai-prices";

/**
 * Whether a model that the catalogue knows can hold a conversation. What it costs tells most: one without a price for the
 * text that it makes turns texts into vectors or speech into text, and one with a price for pictures or sound that it
 * makes is there to make those. One without any price is free.
 */
export function canChat({ id, prices }: Pick<ModelInfo, "id" | "prices">): boolean {
  const priced = Array.isArray(prices) ? prices.flatMap((each) => Object.keys(each.prices)) : Object.keys(prices);
  if (priced.some((what) => /^output_(audio|image|video)_/.test(what))) return false;
  if (priced.length > 0 && !priced.includes("output_mtok")) return false;
  return canChatByName(id) && !OTHER_TASKS.test(id);
}

/** The same of one of which nothing is known but its name, as of those that a server on this machine lists. */
export function canChatByName(model: string): boolean {
  return !VECTORS.test(model);
}

/** A word in the names of models that compare texts. */
const VECTORS = /(?<![a-z])(embed|embedding|embeddings|rerank|reranker)(?![a-z])/i;

/** Words in the names of models that have the prices of a chat and another task, or only go on with a text. */
const OTHER_TASKS = /(?<![a-z])(ada|audio|babbage|curie|davinci|image|moderation|transcribe|tts)(?![a-z])/i;
