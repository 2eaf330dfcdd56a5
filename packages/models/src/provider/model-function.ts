import type { ModelDriver, ModelSettings } from "@banyan/core";
import { OptionError, type OptionNames, type Price, refuseUnknown } from "@banyan/core/conversation";
import type { WireBounds } from "../wire/bounds.ts";
import { checkObjectOptions } from "../wire/options.ts";
import { checkFetch } from "../wire/pool.ts";
import { withoutEffort } from "./effort.ts";
import { type EnvironmentVariables, processVariables } from "./environment.ts";
import type { ModelTarget, ProviderFacts } from "./provider.ts";
import { takesOf } from "./sees.ts";
import { setUpOf } from "./set-up.ts";

/**
 * Options of a provider's function, such as `openai`.
 * @example
 * openai("gpt-5.4", {
 *   apiKey: "...",
 *   baseURL: "https://gateway.example.org/v1",
 *   env: { HTTPS_PROXY: "http://127.0.0.1:3128" },
 *   price: { input: 1.25, output: 10 },
 *   contextSize: 400_000,
 *   takes: ["image/png"],
 *   settings: { effort: "high" },
 *   bounds: { answer: 8 * 1024 * 1024 },
 *   fetch: (address, init) => fetch(address, { ...init, keepalive: true }),
 * });
 */
export interface ProviderModelOptions {
  /** The API key. Default: the value of the provider's environment variable, such as `OPENAI_API_KEY`. */
  readonly apiKey?: string | undefined;
  /**
   * The address. Default: the value of the provider's environment variable, such as `OPENAI_BASE_URL`, or else the
   * provider's own address.
   */
  readonly baseURL?: string | undefined;
  /** Source of keys, addresses and proxies. Default: the environment of the process. */
  readonly env?: EnvironmentVariables | undefined;
  /** US dollars per million tokens. Default: unknown, because entries of providers load no price catalogue. */
  readonly price?: Price | undefined;
  /** Maximum tokens of a request and its response together. Default: unknown. */
  readonly contextSize?: number | undefined;
  /** Media types of files that the model accepts in tool results. Default: decided by the model's name. */
  readonly takes?: readonly string[] | undefined;
  /** Default settings, which an agent's settings override. */
  readonly settings?: ModelSettings | undefined;
  /** Limits of reading an answer. */
  readonly bounds?: WireBounds | undefined;
  /** Sends all requests of the model in place of a connection pool. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

const OPTIONS: OptionNames<ProviderModelOptions> = {
  apiKey: "string",
  baseURL: "string",
  env: "object",
  price: "object",
  contextSize: "number",
  takes: "list",
  settings: "object",
  bounds: "object",
  fetch: true,
};

/**
 * Creates the driver of a provider's model from the provider's own name of the model, with an optional effort
 * (`gpt-5.4:high`). Sends nothing. Throws `ModelChoiceError` for a missing key or address. See {@link openai}.
 */
export interface ModelFunction {
  (model: string, options?: ProviderModelOptions): ModelDriver;
  /** @internal */
  readonly open: (target: ModelTarget) => ModelDriver;
}

/** Makes the function of a provider. `name`: the function's own name, for errors. */
export function modelFunction(
  name: string,
  provider: ProviderFacts,
  open: (target: ModelTarget) => ModelDriver,
): ModelFunction {
  const create = (given: string, options: ProviderModelOptions = {}): ModelDriver => {
    refuseUnknown(name, options, OPTIONS);
    checkFetch(name, options);
    checkObjectOptions(name, options);
    if (typeof given !== "string" || given.trim() === "")
      throw new OptionError(`${name} needs the name of a model, as in ${name}("${provider.defaultModel ?? "..."}").`);
    const { full: model, effort } = withoutEffort(given);
    const { price, contextSize, takes, bounds, fetch } = options;
    const settings = effort === undefined ? options.settings : { effort, ...options.settings };
    return open({
      ...setUpOf(provider, environmentOf(name, provider, options), true),
      id: `${provider.name}/${given}`,
      model,
      keyVariable: provider.keyVariable,
      takes: takes ?? takesOf(provider, model),
      bounds,
      fetch,
      ...(price ? { price } : {}),
      ...(contextSize === undefined ? {} : { contextSize }),
      ...(settings ? { settings } : {}),
    });
  };
  return Object.assign(create, { open });
}

/** Returns the environment with the caller's key and address in the place of the provider's variables. */
function environmentOf(
  name: string,
  { keyVariable, addressVariable }: ProviderFacts,
  { env = processVariables(), apiKey, baseURL }: ProviderModelOptions,
): EnvironmentVariables {
  if (baseURL !== undefined && URL.parse(baseURL)?.protocol.match(/^https?:$/) == null)
    throw new OptionError(`baseURL of ${name} must be an address like http://127.0.0.1:8080/v1, not "${baseURL}".`);
  return {
    ...env,
    ...(keyVariable !== undefined && apiKey !== undefined && { [keyVariable]: apiKey }),
    ...(addressVariable !== undefined && baseURL !== undefined && { [addressVariable]: baseURL }),
  };
}
