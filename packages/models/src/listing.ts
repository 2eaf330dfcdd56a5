import type { Price } from "@banyan/core/conversation";
import { refuseUnknown } from "@banyan/core/conversation";
import { type KnownModel, known, type ModelOverrides, priceOfAll } from "./catalogue.ts";
import { type Environment, readVariable } from "./environment.ts";
import { askWindow, LOCAL_SERVERS, windowSize } from "./local/window.ts";
import { ask, hasGivenAddress } from "./local-servers.ts";
import { ModelChoiceError } from "./name.ts";
import type { Provider } from "./provider.ts";
import { providers } from "./providers.ts";
import { setUpOf } from "./set-up.ts";

/** A provider, and whether it can be used as things are. */
export interface ProviderStatus {
  /** What stands before the slash of a model's name. */
  readonly name: string;
  readonly usable: boolean;
  /** One sentence: why it can be used, or which variable to set. */
  readonly reason: string;
  /** `provider/model`: what is taken when nobody chooses. */
  readonly defaultModel?: string;
  /** How many of its models to chat with the catalogue knows; `listModels` tells them. */
  readonly known: number;
  /** What its server lists to chat with now, as `provider/model`; for servers of the user's own. */
  readonly models?: readonly string[];
  /** What each of them costs, where that is the same for all; what `listModels` says of one counts more. */
  readonly price?: Price;
}

/**
 * Every provider in the order in which a default is looked for, and whether it can be used here, by `env` or the
 * environment of the process. Servers on this machine and at addresses of the user's are asked for their models, all at
 * once, for 3 seconds at most; `BANYAN_NO_DISCOVERY=1` leaves those on this machine out. No hosted provider is asked
 * anything: whether a key is accepted shows with the first answer. Rejects only with the reason of `signal`.
 */
export async function listProviders(
  options: { readonly env?: Environment; readonly signal?: AbortSignal } = {},
): Promise<ProviderStatus[]> {
  refuseUnknown("listProviders", options, { env: true, signal: true });
  const { env = process.env, signal } = options;
  return Promise.all(providers.map((provider) => statusOf(provider, env, signal)));
}

/**
 * The models of a provider that the catalogue knows and that can chat, by name, with what they cost and hold, and
 * whether they see. None of those of a server of the user's own that are not `listed`: `listProviders` asks it. Rejects with `ModelChoiceError` for a provider that there is not.
 */
export async function listModels(
  provider: string,
  options: {
    readonly overrides?: ModelOverrides;
    /** What its server lists, as `provider/model`: they are told of, too. */
    readonly listed?: readonly string[];
    /** The address of a local server, which is asked for the windows of the models that it lists. */
    readonly env?: Environment;
  } = {},
): Promise<KnownModel[]> {
  refuseUnknown("listModels", options, { overrides: true, listed: true, env: true });
  const found = providers.find(({ name }) => name === provider);
  if (found) return withWindows(found, await known(found, options.overrides, options.listed), options);
  const names = providers.map(({ name }) => name).join(", ");
  throw new ModelChoiceError("unknown-provider", `There is no provider "${provider}". There are: ${names}.`);
}

/** The models with the windows that their server gives them (F69), as far as they are loaded or set. */
async function withWindows(
  provider: Provider,
  models: readonly KnownModel[],
  { listed = [], env }: { readonly listed?: readonly string[]; readonly env?: Environment },
): Promise<KnownModel[]> {
  const server = LOCAL_SERVERS.find((name) => name === provider.name);
  if (!server || !env || problemOf(provider, env) !== undefined) return [...models];
  const { address, apiKey } = setUpOf(provider, env);
  return Promise.all(
    models.map(async (known) => {
      if (!listed.includes(known.name)) return known;
      const model = known.name.slice(server.length + 1);
      const contextSize = windowSize(known.contextSize, await askWindow({ server, address, apiKey, model }));
      return contextSize === undefined ? known : { ...known, contextSize };
    }),
  );
}

async function statusOf(provider: Provider, env: Environment, signal?: AbortSignal): Promise<ProviderStatus> {
  const { name, defaultModel } = provider;
  const price = priceOfAll(provider);
  const about = {
    name,
    ...(defaultModel === undefined ? {} : { defaultModel: `${name}/${defaultModel}` }),
    known: (await known(provider)).length,
    ...(price ? { price } : {}),
  };
  const problem = problemOf(provider, env);
  if (problem !== undefined) return { ...about, usable: false, reason: problem };
  if (name === "demo")
    return { ...about, usable: true, reason: "A few rules, not a language model.", models: ["demo/offline"] };
  if (provider.local || provider.address === undefined) return { ...about, ...(await asked(provider, env, signal)) };
  return { ...about, usable: true, reason: `${credentials(provider, env)} set.` };
}

function problemOf(provider: Provider, env: Environment): string | undefined {
  try {
    setUpOf(provider, env);
    return undefined;
  } catch (error) {
    if (error instanceof ModelChoiceError) return error.message;
    throw error;
  }
}

function credentials({ keyVariable, needsOneOf }: Provider, env: Environment): string {
  const complete = needsOneOf?.find((needed) => needed.every((variable) => readVariable(env, variable)));
  const set = complete ?? (keyVariable === undefined ? [] : [keyVariable]);
  return `${new Intl.ListFormat("en").format(set)} ${set.length === 1 ? "is" : "are"}`;
}

/** A server of the user's own can be used when it answers and has a model. */
async function asked(
  provider: Provider,
  env: Environment,
  signal?: AbortSignal,
): Promise<Pick<ProviderStatus, "usable" | "reason" | "models">> {
  const { name, local = false, addressVariable } = provider;
  if (local && readVariable(env, "BANYAN_NO_DISCOVERY") === "1") {
    return { usable: false, reason: "Not looked for, because BANYAN_NO_DISCOVERY is 1." };
  }
  const server = await ask(provider, env, signal);
  if (!server) {
    const where = hasGivenAddress(provider, env)
      ? ` at the address in ${addressVariable}`
      : `; start it, or set ${addressVariable}`;
    return { usable: false, reason: `No server answers${where}.` };
  }
  const models = server.models.map((model) => `${name}/${model}`);
  if (models.length === 0) {
    return { usable: false, reason: `The server at ${server.address} has no model to chat with.`, models };
  }
  return { usable: true, reason: `A server answers at ${server.address}.`, models };
}
