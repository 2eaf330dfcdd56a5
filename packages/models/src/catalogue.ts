import type { Price } from "@banyan/core";
import type { ModelPrice } from "@pydantic/genai-prices";

/** What is known of a model. Absent means unknown, never zero. */
export interface ModelFacts {
  readonly price?: Price;
  /** Tokens that a request and its answer can have together. */
  readonly contextSize?: number;
}

/**
 * The price and the context size of a model, from the catalogue of `@pydantic/genai-prices`, which is loaded with the
 * first question. `provider` is named as the catalogue names it: `openai`, `anthropic`, ... Where a price depends on the
 * length of the request, the lowest step counts. Empty for a model that the catalogue does not have.
 */
export async function lookUp(provider: string, model: string): Promise<ModelFacts> {
  const { calcPrice } = await import("@pydantic/genai-prices");
  const found = calcPrice({}, model, { providerId: provider });
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
