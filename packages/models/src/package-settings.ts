import type { SetUp, Target } from "./provider.ts";
import type { PackageFormat } from "./wire/answer-end.ts";
import { modelFetch } from "./wire/fetch.ts";

/** What every provider package can be told. */
export interface PackageSettings {
  readonly baseURL: string;
  readonly apiKey?: string;
  readonly fetch: typeof fetch;
}

/** Whom a package is for: language models have bounds, and a format in which they answer. */
type Asking = SetUp & Partial<Pick<Target, "bounds">>;

/** Where a provider is, who asks and through which proxies, as its package is told it. */
export function packageSettings(asking: Asking, format?: PackageFormat): PackageSettings {
  const { address, apiKey } = asking;
  return { baseURL: address, ...(apiKey === undefined ? {} : { apiKey }), fetch: fetchFor(asking, format) };
}

/** How its requests are sent, for a package that is told the rest otherwise. */
export function fetchFor({ proxy, bounds }: Pick<Asking, "proxy" | "bounds">, format?: PackageFormat): typeof fetch {
  return modelFetch({ ...(proxy ? { proxy } : {}), bounds, format });
}
