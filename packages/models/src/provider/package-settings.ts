import type { PackageFormat } from "../wire/answer-end.ts";
import { modelFetch } from "../wire/fetch.ts";
import type { ModelTarget, SetUp } from "./provider.ts";

/** Settings that every provider package of the AI SDK accepts. */
export interface PackageSettings {
  readonly baseURL: string;
  readonly apiKey?: string;
  readonly fetch: typeof fetch;
}

/** Embedding models have no `bounds`. */
export type PackageTarget = SetUp & Partial<Pick<ModelTarget, "bounds">>;

/** Returns address, key and `fetch` for a provider's package. */
export function packageSettings(asking: PackageTarget, format?: PackageFormat): PackageSettings {
  const { address, apiKey } = asking;
  return { baseURL: address, ...(apiKey === undefined ? {} : { apiKey }), fetch: fetchFor(asking, format) };
}

/** Returns the `fetch` for a package with other settings. */
export function fetchFor(
  { proxy, fetch, bounds }: Pick<PackageTarget, "proxy" | "fetch" | "bounds">,
  format?: PackageFormat,
): typeof globalThis.fetch {
  return modelFetch({ ...(proxy ? { proxy } : {}), fetch, bounds, format });
}
