import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { askLocalServer, hasGivenAddress, localModelServers, requireSignal } from "./local-servers.ts";
import { type EnvironmentVariables, processVariables, readVariable } from "./provider/environment.ts";
import type { Provider } from "./provider/provider.ts";
import { providers } from "./providers.ts";

/** The model that `chooseModel` chose. See {@link chooseModel}. */
export interface ModelChoice {
  /** `provider/model`. */
  readonly name: string;
  /** One sentence for users about the reason for this choice. */
  readonly reason: string;
}

/**
 * The model names in the user's flag and setting. The command line's `flag` takes precedence over `setting`.
 * @example
 * const { name, reason } = await chooseModel({
 *   flag: process.argv[2],
 *   setting: "openai/gpt-5",
 *   env: process.env,
 *   signal: AbortSignal.timeout(5_000),
 * });
 */
export interface ChooseModelOptions {
  /** The model of the command line. */
  readonly flag?: string | undefined;
  /** The model of the settings. */
  readonly setting?: string | undefined;
  /** Source of keys and addresses. Default: the process's environment. */
  readonly env?: EnvironmentVariables | undefined;
  readonly signal?: AbortSignal | undefined;
}

const OPTIONS: OptionNames<ChooseModelOptions> = { flag: "string", setting: "string", env: "object", signal: "object" };

/**
 * Chooses the first of these models that exists: the model of the flag; the model of the setting; the default model of
 * the first provider with a key, in the order anthropic, openai, google, mistral, xai, groq, deepseek, openrouter; the
 * first model of the server at `OPENAI_COMPATIBLE_BASE_URL`; the first model of the first local server that answers, in
 * the order ollama, lmstudio, llamacpp, vllm; the offline demo. `BANYAN_NO_DISCOVERY=1` skips local servers. Does not
 * check whether the models of flag and setting exist. Rejects only with the reason of `signal`.
 * @example
 * const { name, reason } = await chooseModel({ flag: process.argv[2] });
 * const agent = new Agent({ model: await resolveModel(name) });
 */
export async function chooseModel(options: ChooseModelOptions = {}): Promise<ModelChoice> {
  refuseUnknown("chooseModel", options, OPTIONS);
  const { flag, setting, env = processVariables(), signal } = options;
  requireSignal("chooseModel", signal);
  if (flag) return { name: flag, reason: `Model: ${flag} (from the command line)` };
  if (setting) return { name: setting, reason: `Model: ${setting} (from your settings)` };
  signal?.throwIfAborted();

  for (const provider of providers) {
    const choice = byKey(provider, env) ?? (await byAddress(provider, env, signal));
    if (choice) return choice;
  }
  const reasons = providers.flatMap((provider) =>
    needsAddress(provider) && hasGivenAddress(provider, env)
      ? [`no model is listed at ${provider.addressVariable}`]
      : [],
  );

  if (readVariable(env, "BANYAN_NO_DISCOVERY") !== "1") {
    for (const { provider, address, models } of await localModelServers(env, signal)) {
      const [model] = models;
      if (model === undefined) continue;
      const name = `${provider}/${model}`;
      return {
        name,
        reason: `Model: ${name} (${["no key is set", ...reasons].join(", ")}, and ${provider} answers at ${address})`,
      };
    }
    reasons.push("no local server answers");
  }
  return {
    name: "demo/offline",
    reason: `Using demo/offline, a demo without a language model, because ${["no key is set", ...reasons].join(" and ")}. For a real model, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama.`,
  };
}

function byKey(
  { name: provider, defaultModel, keyVariable }: Provider,
  env: EnvironmentVariables,
): ModelChoice | undefined {
  if (defaultModel === undefined || !isSet(env, keyVariable)) return undefined;
  const name = `${provider}/${defaultModel}`;
  return { name, reason: `Model: ${name} (${keyVariable} is set)` };
}

/** A provider at an address that the user set: such a provider has no default model, but lists its models. */
async function byAddress(
  provider: Provider,
  env: EnvironmentVariables,
  signal?: AbortSignal,
): Promise<ModelChoice | undefined> {
  if (!needsAddress(provider) || !hasGivenAddress(provider, env)) return undefined;
  const model = (await askLocalServer(provider, env, signal))?.models[0];
  if (model === undefined) return undefined;
  const name = `${provider.name}/${model}`;
  return { name, reason: `Model: ${name} (${provider.addressVariable} is set)` };
}

function needsAddress(provider: Provider): boolean {
  return provider.addressVariable !== undefined && provider.address === undefined;
}

function isSet(env: EnvironmentVariables, variable: string | undefined): boolean {
  return variable !== undefined && readVariable(env, variable) !== undefined;
}
