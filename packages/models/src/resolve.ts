import type { ModelDriver } from "@banyan/core";
import { checkArguments, type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { nearest } from "@banyan/core/shown";
import { type Aliases, parseName } from "./name.ts";
import { catalogueModels, lookUp, type ModelOverrides, overrideOf } from "./provider/catalogue.ts";
import { type EnvironmentVariables, processVariables } from "./provider/environment.ts";
import type { Provider } from "./provider/provider.ts";
import { takesOf } from "./provider/sees.ts";
import { setUpOf } from "./provider/set-up.ts";
import type { WireBounds } from "./wire/bounds.ts";
import { checkObjectOptions } from "./wire/options.ts";
import { checkFetch, type PoolOptions } from "./wire/pool.ts";

/**
 * Options of `resolveModel`.
 * @example
 * await resolveModel("fast", {
 *   env: { ANTHROPIC_API_KEY: "..." },
 *   aliases: { fast: "anthropic/claude-haiku-4-5" },
 *   overrides: { "anthropic/claude-haiku-4-5": { contextSize: 100_000 } },
 *   bounds: { answer: 8 * 1024 * 1024 },
 *   fetch: (address, init) => fetch(address, { ...init, keepalive: true }),
 * });
 */
export interface ResolveOptions {
  /** Source of keys and addresses. Default: the process's environment. */
  readonly env?: EnvironmentVariables | undefined;
  /** The user's short names. They override built-in ones. */
  readonly aliases?: Aliases | undefined;
  /** The user's settings of models, which replace facts of the catalogue. */
  readonly overrides?: ModelOverrides | undefined;
  /** Limits of reading an answer. */
  readonly bounds?: WireBounds | undefined;
  /** Sends all requests of the model in place of a connection pool; proxies of `env` then have no effect. */
  readonly fetch?: PoolOptions["fetch"];
}

const OPTIONS: OptionNames<ResolveOptions> = {
  env: "object",
  aliases: "object",
  overrides: "object",
  bounds: "object",
  fetch: true,
};

/** Drivers by their parameters, per environment or own `fetch`: some are costly to make. */
const opened = new WeakMap<object, Map<string, Promise<ModelDriver>>>();

/**
 * Creates the driver of a model from `provider/model` or a short name (`sonnet`), with an optional effort
 * (`sonnet:high`). A model's own name may contain slashes and colons. The effort becomes a setting of the driver, which
 * an agent's settings override. Keys and addresses come from `env`. Sends nothing, so an unknown model fails only with
 * the first request. Returns the same driver for the same environment and `fetch`. Rejects with `ModelChoiceError`.
 * @example const agent = new Agent({ model: await resolveModel("anthropic/claude-sonnet-4-5") });
 */
export async function resolveModel(name: string, options: ResolveOptions = {}): Promise<ModelDriver> {
  refuseUnknown("resolveModel", options, OPTIONS);
  checkFetch("resolveModel", options);
  checkObjectOptions("resolveModel", { bounds: options.bounds });
  const { env = processVariables(), aliases, overrides, bounds, fetch } = options;
  const { id, provider, model, effort } = parseName(name, aliases);
  const setUp = setUpOf(provider, env);
  const facts = await lookUp(provider, model, overrides);
  const { driver: through, sees, textCalls } = overrideOf(provider, model, overrides);
  const takes = takesOf(provider, model, sees);

  const owner = fetch ?? env;
  let drivers = opened.get(owner);
  if (!drivers) {
    drivers = new Map();
    opened.set(owner, drivers);
  }
  const made = JSON.stringify([id, setUp, facts, takes, through, textCalls, bounds]);
  let driver = drivers.get(made);
  if (!driver) {
    const settings = effort === undefined ? {} : { settings: { effort } };
    const target = {
      ...setUp,
      ...facts,
      ...settings,
      takes,
      id,
      model,
      keyVariable: provider.keyVariable,
      bounds,
      fetch,
      textCalls,
    };
    driver = through === "package" && provider.openPackage ? provider.openPackage(target) : provider.open(target);
    drivers.set(made, driver);
    driver.catch(() => drivers.delete(made));
  }
  return driver;
}

/**
 * Checks the name of a model as `resolveModel` does, without making a driver. If the catalogue does not contain the
 * model, the result is a list of similar names. Rejects with `ModelChoiceError`. `needsSetUp`: true to check keys and
 * addresses, too.
 * @example for (const similar of await checkModel("openai/gpt-55")) console.log(`Did you mean ${similar}?`);
 */
export async function checkModel(
  name: string,
  options: Omit<ResolveOptions, "bounds" | "fetch"> = {},
  needsSetUp = true,
): Promise<readonly string[]> {
  refuseUnknown("checkModel", options, { env: "object", aliases: "object", overrides: "object" });
  checkArguments("checkModel", { needsSetUp }, { needsSetUp: "boolean" });
  const { env = processVariables(), aliases, overrides } = options;
  const { provider, model } = parseName(name, aliases);
  if (needsSetUp) setUpOf(provider, env);
  const near = await nearModels(provider, model, overrides);
  return near.map((id) => `${provider.name}/${id}`);
}

/** Catalogue models that an unknown name may mean. A name that differs only in numbers is a newer or older model. */
async function nearModels(
  provider: Provider,
  model: string,
  overrides: ModelOverrides = {},
): Promise<readonly string[]> {
  if (Object.hasOwn(overrides, `${provider.name}/${model}`)) return [];
  if (Object.keys(await lookUp(provider, model)).length > 0) return [];
  const ids = await catalogueModels(provider);
  const family = (id: string) => id.replaceAll(/[\d.-]+/g, "-");
  if (ids.some((id) => family(id) === family(model))) return [];
  return nearest(model, ids, 2);
}
