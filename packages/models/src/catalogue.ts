import type { Price } from "@banyan/core/conversation";
import type { ModelInfo, ModelPrice } from "@pydantic/genai-prices";
import type { Provider } from "./provider.ts";

/** What is known of a model. Absent means unknown, never zero. */
export interface ModelFacts {
  readonly price?: Price;
  /** Tokens that a request and its answer can have together. */
  readonly contextSize?: number;
}

/** What a user says of a model: facts that the catalogue has not or has otherwise, and how it is reached. */
export interface ModelOverride extends ModelFacts {
  /** `package`: through the provider package of the AI SDK, where a driver of our own is the default. */
  readonly driver?: "package";
  /** Whether it is shown the pictures and documents that tools bring; its name tells when absent. */
  readonly sees?: boolean;
  /** Whether calls count that it writes as text, in the chat format; they do when absent. */
  readonly textCalls?: boolean;
  /** For programs that have a shorter form of what they tell a model; resolving a model does not look at it. */
  readonly profile?: "full" | "small";
}

/** What the user knows better, by `provider/model`: each fact that is given counts more. */
export type ModelOverrides = Readonly<Record<string, ModelOverride>>;

/** A model that the catalogue knows. */
export interface KnownModel extends ModelFacts {
  /** `provider/model`. */
  readonly name: string;
  /** Whether it sees pictures: what the user says, else as far as its name tells. */
  readonly sees?: boolean;
}

/**
 * The price and the context size of a model: the user's, else those of the catalogue of `@pydantic/genai-prices`, which
 * is loaded with the first question. Where a price depends on the length of the request, the lowest step counts. What
 * runs on a machine of the user's costs nothing. Empty for a model of which nothing is known.
 */
export async function lookUp(
  provider: Pick<Provider, "name" | "catalogue" | "local" | "isFree">,
  model: string,
  overrides: ModelOverrides = {},
): Promise<ModelFacts> {
  const { price, contextSize } = overrideOf(provider, model, overrides);
  return {
    ...(await catalogued(provider, model)),
    ...(price && { price }),
    ...(contextSize !== undefined && { contextSize }),
  };
}

/** What the user says of a model. */
export function overrideOf(
  provider: Pick<Provider, "name">,
  model: string,
  overrides: ModelOverrides = {},
): ModelOverride {
  const own = `${provider.name}/${model}`;
  return (Object.hasOwn(overrides, own) ? overrides[own] : undefined) ?? {};
}

/**
 * The models of a provider that the catalogue knows, that are not deprecated and can chat, by name; and the user's own, and
 * those that its server lists.
 */
export async function known(
  provider: Pick<Provider, "name" | "catalogue" | "local" | "isFree">,
  overrides: ModelOverrides = {},
  listed: readonly string[] = [],
): Promise<KnownModel[]> {
  const prefix = `${provider.name}/`;
  const models = new Set(await idsOf(provider));
  for (const name of [...Object.keys(overrides), ...listed])
    if (name.startsWith(prefix)) models.add(name.slice(prefix.length));
  return Promise.all(
    [...models].sort().map(async (model) => ({
      name: prefix + model,
      sees: overrideOf(provider, model, overrides).sees ?? seesByName(provider, model),
      ...(await lookUp(provider, model, overrides)),
    })),
  );
}

/** The models of a provider that the catalogue knows, that are not deprecated and can chat, without the provider's name. */
export async function idsOf({ catalogue }: Pick<Provider, "catalogue">): Promise<string[]> {
  if (catalogue === undefined) return [];
  const { findProvider } = await import("@pydantic/genai-prices");
  const models = findProvider({ providerId: catalogue })?.models ?? [];
  return models.filter((model) => !model.deprecated && canChat(model)).map(({ id }) => id);
}

/** What costs nothing. */
export const NOTHING: Price = { input: 0, output: 0 };

/** What every model of a provider costs, where that is the same for all. */
export function priceOfAll({ local = false, isFree = false }: Pick<Provider, "local" | "isFree">): Price | undefined {
  return local || isFree ? NOTHING : undefined;
}

async function catalogued(
  provider: Pick<Provider, "catalogue" | "local" | "isFree">,
  model: string,
): Promise<ModelFacts> {
  const price = priceOfAll(provider);
  return price ? { price } : listedIn(provider.catalogue, model);
}

async function listedIn(catalogue: string | undefined, model: string): Promise<ModelFacts> {
  if (catalogue === undefined) return {};
  const { calcPrice } = await import("@pydantic/genai-prices");
  const found = calcPrice({}, model, { providerId: catalogue });
  if (!found) return {};
  const price = priceOf(found.model_price);
  const contextSize = found.model.context_window;
  return { ...(price ? { price } : {}), ...(contextSize === undefined ? {} : { contextSize }) };
}

function priceOf(prices: ModelPrice): Price | undefined {
  const input = base(prices.input_mtok);
  const output = base(prices.output_mtok);
  if (input === undefined || output === undefined) return undefined;
  const cached = base(prices.cache_read_mtok);
  const cacheWrite = base(prices.cache_write_mtok);
  return {
    input,
    output,
    ...(cached === undefined ? {} : { cached }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  };
}

function base(price: ModelPrice[string]): number | undefined {
  return typeof price === "object" ? price.base : price;
}

/**
 * Whether a model that the catalogue knows can hold a conversation. What it costs tells most: one without a price for the
 * text that it makes turns texts into vectors or speech into text, and one with a price for pictures or sound that it
 * makes is there to make those. One without any price is free.
 */
function canChat({ id, prices }: Pick<ModelInfo, "id" | "prices">): boolean {
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

/** Providers whose own models see, but for those that `BLIND` names. Elsewhere are those of many makers. */
const SEEING_PROVIDERS = new Set(["anthropic", "openai", "openai-chat", "google", "mistral", "xai", "azure"]);

/** Words in the names of models that see pictures. */
const SEEING =
  /(?<![a-z])(?:claude|gemini|gemma-?[34]|gpt-4o|gpt-4\.1|gpt-5|chatgpt|o[1-9]|grok-[4-9]|llama-?4|llava|pixtral|mistral-(?:small|medium|large)|vision|vl|minicpm-v|moondream|nova-(?:lite|pro|premier))(?![a-z])/i;
/** Words in the names of models that see none, whatever else their names say. */
const BLIND =
  /(?<![a-z])(?:gpt-3\.5|gpt-oss|o1-(?:mini|preview)|o3-mini|codestral|devstral|magistral|mixtral|open-mistral|coder|grok-(?:[123]|code)|nova-micro)(?![a-z\d])/i;

/** Whether a model sees pictures, as far as its name and its provider tell. */
export function seesByName({ name }: Pick<Provider, "name">, model: string): boolean {
  return !BLIND.test(model) && (SEEING_PROVIDERS.has(name) || SEEING.test(model));
}
