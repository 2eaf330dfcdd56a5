import type { ModelSettings } from "@banyan/core";
import { OptionError, type OptionNames, type Price, refuseUnknown } from "@banyan/core/conversation";
import { settingNames } from "@banyan/core/drivers";
import type { WireBounds } from "./bounds.ts";
import type { ProxyAddresses } from "./pool.ts";

const PRICE: OptionNames<Price> = { input: "number!", output: "number!", cached: "number", cacheWrite: "number" };
const BOUNDS: OptionNames<WireBounds> = { line: "number", answer: "number", linger: "number" };
const PROXY: OptionNames<ProxyAddresses> = { http: "string", https: "string", except: "string" };

/** Options of a model that are objects or lists. */
interface ObjectOptions {
  readonly price?: Price | undefined;
  readonly settings?: ModelSettings | undefined;
  readonly bounds?: WireBounds | undefined;
  readonly proxy?: ProxyAddresses | undefined;
  readonly takes?: readonly string[] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Throws `OptionError` for an unknown or mistyped value within an option of a model (L11). */
export function checkObjectOptions(owner: string, options: ObjectOptions): void {
  const { price, settings, bounds, proxy, takes = [], headers = {} } = options;
  if (price !== undefined) refuseUnknown(owner, price, PRICE, "price.");
  refuseUnknown(owner, settings, settingNames, "settings.");
  refuseUnknown(owner, bounds, BOUNDS, "bounds.");
  refuseUnknown(owner, proxy, PROXY, "proxy.");
  if (!Array.isArray(takes) || takes.some((type) => typeof type !== "string"))
    throw new OptionError(`takes of ${owner} must be a list of media types, such as ["image/png"].`);
  for (const [name, value] of Object.entries(headers))
    if (typeof value !== "string") throw new OptionError(`headers.${name} of ${owner} must be a string.`);
}
