import type { Price } from "@banyan/core/conversation";
import { OptionError, refuseUnknown } from "@banyan/core/conversation";
import { askWindow, LOCAL_SERVERS, windowSize } from "./local/window.ts";
import { askLocalServer, hasGivenAddress, requireSignal } from "./local-servers.ts";
import { commonPrice, type KnownModel, knownModels, type ModelOverrides } from "./provider/catalogue.ts";
import { type EnvironmentVariables, processVariables, readVariable } from "./provider/environment.ts";
import { ModelChoiceError } from "./provider/model-choice-error.ts";
import { isInstalled } from "./provider/peers.ts";
import type { Provider } from "./provider/provider.ts";
import { setUpOf } from "./provider/set-up.ts";
import { providers } from "./providers.ts";

/** The status of a provider: whether its models can be used now, and why. See {@link listProviders}. */
export interface ProviderStatus {
  /** The part of the provider's model names before the slash. */
  readonly name: string;
  readonly usable: boolean;
  /** One sentence: why the provider can be used, or which variable to set. */
  readonly reason: string;
  /** `provider/model`. */
  readonly defaultModel?: string;
  /** Number of the provider's chat models in the price catalogue. `listModels` lists them. */
  readonly known: number;
  /** The chat models that the user's own server lists now, as `provider/model`. Absent for hosted providers. */
  readonly models?: readonly string[];
  /** The price of all models of the provider, if they have one price. */
  readonly price?: Price;
}

/**
 * Lists all providers in the order in which `chooseModel` tries them. Checks which of them can be used with `env`
 * (default: the process's environment). Asks local servers and servers at the user's addresses in parallel, for at most
 * 3 seconds. `BANYAN_NO_DISCOVERY=1` skips local servers. Sends nothing to hosted providers, so a wrong key fails only
 * with the first request. Rejects only with the reason of `signal`.
 * @example for (const { name } of await listProviders()) console.log(name);
 */
export async function listProviders(
  options: { readonly env?: EnvironmentVariables; readonly signal?: AbortSignal } = {},
): Promise<ProviderStatus[]> {
  refuseUnknown("listProviders", options, { env: "object", signal: "object" });
  const { env = processVariables(), signal } = options;
  requireSignal("listProviders", signal);
  return Promise.all(providers.map((provider) => providerStatus(provider, env, signal)));
}

/**
 * Lists a provider's chat models by name, with price, context size and image support. `listed`: models of the user's
 * own server, from `listProviders`. Rejects with `ModelChoiceError` for an unknown provider.
 * @example for (const { name } of await listModels("openai")) console.log(name);
 */
export async function listModels(
  provider: string,
  options: {
    readonly overrides?: ModelOverrides;
    /** Additional models from the list of the provider's server: `provider/model`. */
    readonly listed?: readonly string[];
    /**
     * The environment, with the address of a local server. This server is asked for the context sizes of its models.
     */
    readonly env?: EnvironmentVariables;
  } = {},
): Promise<KnownModel[]> {
  refuseUnknown("listModels", options, { overrides: "object", listed: "list", env: "object" });
  if (options.listed?.some((name) => typeof name !== "string"))
    throw new OptionError('listed of listModels must be a list of names, such as ["ollama/qwen3"].');
  const found = providers.find(({ name }) => name === provider);
  if (found) return withWindows(found, await knownModels(found, options.overrides, options.listed), options);
  const names = providers.map(({ name }) => name).join(", ");
  throw new ModelChoiceError("unknown-provider", `There is no provider "${provider}". There are: ${names}.`);
}

/** Adds the context sizes that a local server reports (F69) for models that are loaded or configured. */
async function withWindows(
  provider: Provider,
  models: readonly KnownModel[],
  { listed = [], env }: { readonly listed?: readonly string[]; readonly env?: EnvironmentVariables },
): Promise<KnownModel[]> {
  const server = LOCAL_SERVERS.find((name) => name === provider.name);
  if (!server || !env || setUpProblem(provider, env) !== undefined) return [...models];
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

async function providerStatus(
  provider: Provider,
  env: EnvironmentVariables,
  signal?: AbortSignal,
): Promise<ProviderStatus> {
  const { name, defaultModel } = provider;
  const price = commonPrice(provider);
  const about = {
    name,
    ...(defaultModel === undefined ? {} : { defaultModel: `${name}/${defaultModel}` }),
    known: (await knownModels(provider)).length,
    ...(price ? { price } : {}),
  };
  const problem = setUpProblem(provider, env);
  if (problem !== undefined) return { ...about, usable: false, reason: problem };
  if (name === "demo")
    return {
      ...about,
      usable: true,
      reason: "The demo follows fixed rules, without a language model.",
      models: ["demo/offline"],
    };
  if (name === "local")
    return {
      ...about,
      usable: isInstalled("node-llama-cpp"),
      reason: "Runs a model file in this process: local/PATH.gguf. Needs the package node-llama-cpp.",
      models: [],
    };
  if (provider.local || provider.address === undefined)
    return { ...about, ...(await askOwnServer(provider, env, signal)) };
  return { ...about, usable: true, reason: `${credentials(provider, env)} set.` };
}

function setUpProblem(provider: Provider, env: EnvironmentVariables): string | undefined {
  try {
    setUpOf(provider, env);
    return undefined;
  } catch (error) {
    if (error instanceof ModelChoiceError) return error.message;
    throw error;
  }
}

function credentials({ keyVariable, needsOneOf }: Provider, env: EnvironmentVariables): string {
  const complete = needsOneOf?.find((needed) => needed.every((variable) => readVariable(env, variable)));
  const set = complete ?? (keyVariable === undefined ? [] : [keyVariable]);
  return `${new Intl.ListFormat("en").format(set)} ${set.length === 1 ? "is" : "are"}`;
}

/** The server can be used if it answers and has a model. */
async function askOwnServer(
  provider: Provider,
  env: EnvironmentVariables,
  signal?: AbortSignal,
): Promise<Pick<ProviderStatus, "usable" | "reason" | "models">> {
  const { name, local = false, addressVariable } = provider;
  if (local && readVariable(env, "BANYAN_NO_DISCOVERY") === "1") {
    return { usable: false, reason: "Banyan does not look for this server, because BANYAN_NO_DISCOVERY is 1." };
  }
  const server = await askLocalServer(provider, env, signal);
  if (!server) {
    const where = hasGivenAddress(provider, env)
      ? ` at the address in ${addressVariable}`
      : `; start it, or set ${addressVariable}`;
    return { usable: false, reason: `No server answers${where}.` };
  }
  const models = server.models.map((model) => `${name}/${model}`);
  if (models.length === 0) {
    return { usable: false, reason: `The server at ${server.address} has no chat model.`, models };
  }
  return { usable: true, reason: `A server answers at ${server.address}.`, models };
}
