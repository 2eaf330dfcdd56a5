import type { Price } from "@banyan/core/conversation";
import type { ModelInfo, ModelPrice } from "@pydantic/genai-prices";
import type { Provider } from "./provider.ts";
import { seesByName } from "./sees.ts";

/** Price and context size of a model. An absent field is unknown, never zero. See {@link listModels}. */
export interface ModelFacts {
  readonly price?: Price;
  /** Maximum tokens of a request and its response together. */
  readonly contextSize?: number;
}

/** A user's settings for a model: corrections of the catalogue, and how to reach the model. See {@link listModels}. */
export interface ModelOverride extends ModelFacts {
  /** Set to `package` to use the provider package of the AI SDK in place of Banyan's own driver. */
  readonly driver?: "package";
  /** True if the model accepts images and documents in tool results. Absent: decided by the model's name. */
  readonly sees?: boolean;
  /** True if calls that the model writes as text count as calls. Only in the chat format. Default true. */
  readonly textCalls?: boolean;
  /** Length of the program's instructions for the model. Resolving a model ignores this. */
  readonly profile?: "full" | "small";
}

/** Facts that replace facts of the catalogue, by `provider/model`. See {@link listModels}. */
export type ModelOverrides = Readonly<Record<string, ModelOverride>>;

/** A model from the catalogue, the user's settings or a server's list. See {@link listModels}. */
export interface KnownModel extends ModelFacts {
  /** `provider/model`. */
  readonly name: string;
  /** True if the model sees images, by the user's settings or by its name. */
  readonly sees?: boolean;
}

/**
 * Returns price and context size of a model from the user's overrides, or from `@pydantic/genai-prices`, which is
 * loaded on first use. If a price depends on the request's length, returns the lowest tier. Local models are free.
 * Returns no fields for an unknown model.
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

/** Returns the user's settings for a model. */
export function overrideOf(
  provider: Pick<Provider, "name">,
  model: string,
  overrides: ModelOverrides = {},
): ModelOverride {
  const own = `${provider.name}/${model}`;
  return (Object.hasOwn(overrides, own) ? overrides[own] : undefined) ?? {};
}

/** Lists a provider's chat models by name, from the catalogue, the user's settings and the server's list. */
export async function knownModels(
  provider: Pick<Provider, "name" | "catalogue" | "local" | "isFree">,
  overrides: ModelOverrides = {},
  listed: readonly string[] = [],
): Promise<KnownModel[]> {
  const prefix = `${provider.name}/`;
  const models = new Set(await catalogueModels(provider));
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

/** Lists the provider's current chat models in the catalogue, by their names without the provider. */
export async function catalogueModels({ catalogue }: Pick<Provider, "catalogue">): Promise<string[]> {
  if (catalogue === undefined) return [];
  const { findProvider } = await import("@pydantic/genai-prices");
  const models = findProvider({ providerId: catalogue })?.models ?? [];
  return models.filter((model) => !model.deprecated && canChat(model)).map(({ id }) => id);
}

/** The price of a free model. */
export const NOTHING: Price = { input: 0, output: 0 };

/** Returns the price of all models of a free provider; `undefined` for other providers. */
export function commonPrice({ local = false, isFree = false }: Pick<Provider, "local" | "isFree">): Price | undefined {
  return local || isFree ? NOTHING : undefined;
}

async function catalogued(
  provider: Pick<Provider, "catalogue" | "local" | "isFree">,
  model: string,
): Promise<ModelFacts> {
  const price = commonPrice(provider);
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

/** Embedding models have no price for output text; image and sound generators have one for output images or sound. */
function canChat({ id, prices }: Pick<ModelInfo, "id" | "prices">): boolean {
  const priced = Array.isArray(prices) ? prices.flatMap((each) => Object.keys(each.prices)) : Object.keys(prices);
  if (priced.some((what) => /^output_(audio|image|video)_/.test(what))) return false;
  if (priced.length > 0 && !priced.includes("output_mtok")) return false;
  return canChatByName(id) && !OTHER_TASKS.test(id);
}

/** Returns whether a model can chat, by its name. For models of local servers, which no catalogue describes. */
export function canChatByName(model: string): boolean {
  return !VECTORS.test(model);
}

const VECTORS = /(?<![a-z])(embed|embedding|embeddings|rerank|reranker)(?![a-z])/i;

/** Words in the names of models with chat prices that do another task or only complete a text. */
const OTHER_TASKS = /(?<![a-z])(ada|audio|babbage|curie|davinci|image|moderation|transcribe|tts)(?![a-z])/i;
