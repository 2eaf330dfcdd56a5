import type { SetUp } from "./provider.ts";
import { fetchThrough } from "./wire/pool.ts";

/** What every provider package can be told. */
export interface PackageSettings {
  readonly baseURL: string;
  readonly apiKey?: string;
  readonly fetch?: typeof fetch;
}

/** Where a provider is, who asks and through which proxies, as its package is told it. */
export function packageSettings({ address, apiKey, proxy }: SetUp): PackageSettings {
  return { baseURL: address, ...(apiKey === undefined ? {} : { apiKey }), ...proxied({ proxy }) };
}

/** The proxies alone, for a package that is told the rest otherwise. */
export function proxied({ proxy }: Pick<SetUp, "proxy">): Pick<PackageSettings, "fetch"> {
  const fetch = proxy && fetchThrough({ proxy });
  return fetch ? { fetch } : {};
}
