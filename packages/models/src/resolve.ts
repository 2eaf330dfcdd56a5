import type { ModelDriver } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { PDF, PICTURES } from "@banyan/core/drivers";
import { nearest } from "@banyan/core/shown";
import type { EnvironmentVariables } from "./environment.ts";
import { type Aliases, parseName } from "./name.ts";
import { catalogueModels, lookUp, type ModelOverrides, overrideOf, seesByName } from "./provider/catalogue.ts";
import type { Provider } from "./provider/provider.ts";
import { setUpOf } from "./set-up.ts";
import type { WireBounds } from "./wire/bounds.ts";

/**
 * Options for resolving a model's name.
 * @example
 * await resolveModel("fast", {
 *   env: { ANTHROPIC_API_KEY: "..." },
 *   aliases: { fast: "anthropic/claude-haiku-4-5" },
 *   overrides: { "anthropic/claude-haiku-4-5": { contextSize: 100_000 } },
 *   bounds: { answer: 8 * 1024 * 1024 },
 * });
 */
export interface ResolveOptions {
  /** Source of keys and addresses. Default: the process's environment. */
  readonly env?: EnvironmentVariables | undefined;
  /** The user's short names. They override built-in ones. */
  readonly aliases?: Aliases | undefined;
  /** The user's corrections of the catalogue. */
  readonly overrides?: ModelOverrides | undefined;
  /** Limits of how much of an answer is read. */
  readonly bounds?: WireBounds | undefined;
}

const OPTIONS: OptionNames<ResolveOptions> = { env: true, aliases: true, overrides: true, bounds: true };

/** Drivers by their parameters, as long as their environment lives: some are costly to make. */
const opened = new WeakMap<EnvironmentVariables, Map<string, Promise<ModelDriver>>>();

/**
 * Makes the driver of a model by name: `provider/model` or a short name (`sonnet`), each with an optional effort (`sonnet:high`). A
 * model's own name may contain slashes and colons. The effort is among the driver's settings, which an agent's settings extend; the
 * driver's id is the full name.
 *
 * Keys and addresses come from `env`. Sends nothing: a missing model shows with the first request. Returns the same driver for the
 * same environment. Rejects with `ModelChoiceError`.
 */
export async function resolveModel(name: string, options: ResolveOptions = {}): Promise<ModelDriver> {
  refuseUnknown("resolveModel", options, OPTIONS);
  const { env = process.env, aliases, overrides, bounds } = options;
  const { id, provider, model, effort } = parseName(name, aliases);
  const setUp = setUpOf(provider, env);
  const facts = await lookUp(provider, model, overrides);
  const { driver: through, sees, textCalls } = overrideOf(provider, model, overrides);
  const takes = takesOf(provider, model, sees);

  let drivers = opened.get(env);
  if (!drivers) {
    drivers = new Map();
    opened.set(env, drivers);
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
      textCalls,
    };
    driver = through === "package" && provider.openPackage ? provider.openPackage(target) : provider.open(target);
    drivers.set(made, driver);
    driver.catch(() => drivers.delete(made));
  }
  return driver;
}

/**
 * Checks a name as `resolveModel` does, without making a driver. Rejects with the same `ModelChoiceError`. Resolves with similar
 * names from the catalogue, as `provider/model`, if the catalogue does not know the name.
 *
 * @param needsSetUp Whether to check keys and addresses too.
 */
export async function checkModel(
  name: string,
  options: Omit<ResolveOptions, "bounds"> = {},
  needsSetUp = true,
): Promise<readonly string[]> {
  refuseUnknown("checkModel", options, { env: true, aliases: true, overrides: true });
  const { env = process.env, aliases, overrides } = options;
  const { provider, model } = parseName(name, aliases);
  if (needsSetUp) setUpOf(provider, env);
  const near = await nearModels(provider, model, overrides);
  return near.map((id) => `${provider.name}/${id}`);
}

/**
 * Catalogue models that an unknown name may mean. Empty for a name that differs from a known one only in numbers: it is a newer or
 * older model.
 */
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

/** File types that a provider's format can carry, if its driver does not know this itself. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  mistral: [...PICTURES, PDF],
  "openai-chat": [...PICTURES, PDF],
  openrouter: [...PICTURES, PDF],
};

/**
 * Media types of files that a model gets in tool results, if its name shows that it sees images. A provider refuses the whole
 * conversation for a model that cannot. Undefined if the driver knows this itself.
 *
 * @param sees The user's setting, which takes precedence.
 */
function takesOf(provider: Pick<Provider, "name">, model: string, sees?: boolean): readonly string[] | undefined {
  return (sees ?? seesByName(provider, model)) ? TYPES[provider.name] : [];
}
