import type { ModelDriver } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { PDF, PICTURES } from "@banyan/core/drivers";
import { nearest } from "@banyan/core/shown";
import { idsOf, lookUp, type ModelOverrides, overrideOf, seesByName } from "./catalogue.ts";
import type { Environment } from "./environment.ts";
import { type Aliases, parseName } from "./name.ts";
import type { Provider } from "./provider.ts";
import { setUpOf } from "./set-up.ts";
import type { WireBounds } from "./wire/bounds.ts";

/**
 * What a name is looked up in.
 * @example
 * await resolveModel("fast", {
 *   env: { ANTHROPIC_API_KEY: "..." },
 *   aliases: { fast: "anthropic/claude-haiku-4-5" },
 *   overrides: { "anthropic/claude-haiku-4-5": { contextSize: 100_000 } },
 *   bounds: { answer: 8 * 1024 * 1024 },
 * });
 */
export interface ResolveOptions {
  /** Where keys and addresses come from; the environment of the process when absent. */
  readonly env?: Environment | undefined;
  /** The user's own short names; they count more than the built-in ones. */
  readonly aliases?: Aliases | undefined;
  /** What the user knows better than the catalogue. */
  readonly overrides?: ModelOverrides | undefined;
  /** How much is read of an answer. */
  readonly bounds?: WireBounds | undefined;
}

const OPTIONS: OptionNames<ResolveOptions> = { env: true, aliases: true, overrides: true, bounds: true };

/** Drivers by what they were made of, for as long as their environment lives: some are costly to make. */
const opened = new WeakMap<Environment, Map<string, Promise<ModelDriver>>>();

/**
 * The driver of a model by its name: `provider/model`, or a short name (`sonnet`), each with an effort if one is wanted
 * (`sonnet:high`). The model's own name may hold slashes and colons. The driver has the effort among its settings, to
 * which those of an agent add; its id is the name in full.
 *
 * Keys and addresses come from `env`. Nothing is sent: whether the model exists shows with its first answer. Asked
 * again with the same environment, it gives the same driver. Rejects with `ModelChoiceError`.
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
 * Looks a name up as `resolveModel` does, without making a driver: rejects with `ModelChoiceError` where that does. Resolves with the
 * names of models that may be meant, as `provider/model`, if the name is like one that the catalogue knows and is none itself.
 *
 * @param needsSetUp Whether keys and addresses have to be there too.
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
 * Models that may be meant by a name that the catalogue does not know. Nothing for a name that differs from a known one in its
 * numbers alone: that is a newer model, or an older one.
 */
async function nearModels(
  provider: Provider,
  model: string,
  overrides: ModelOverrides = {},
): Promise<readonly string[]> {
  if (Object.hasOwn(overrides, `${provider.name}/${model}`)) return [];
  if (Object.keys(await lookUp(provider, model)).length > 0) return [];
  const ids = await idsOf(provider);
  const family = (id: string) => id.replaceAll(/[\d.-]+/g, "-");
  if (ids.some((id) => family(id) === family(model))) return [];
  return nearest(model, ids, 2);
}

/** What of files is known to go through the format of a provider, where its driver does not know that itself. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  mistral: [...PICTURES, PDF],
  "openai-chat": [...PICTURES, PDF],
  openrouter: [...PICTURES, PDF],
};

/**
 * Media types of the files that a model is shown with results of calls, as far as its name tells whether it sees: a provider
 * refuses the whole conversation of a model that does not. Nothing where its driver knows.
 *
 * @param sees What the user says of it, which counts more.
 */
function takesOf(provider: Pick<Provider, "name">, model: string, sees?: boolean): readonly string[] | undefined {
  return (sees ?? seesByName(provider, model)) ? TYPES[provider.name] : [];
}
