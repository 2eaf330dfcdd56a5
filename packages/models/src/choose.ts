import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { type Environment, readVariable } from "./environment.ts";
import { ask, hasGivenAddress, localServers } from "./local-servers.ts";
import type { Provider } from "./provider.ts";
import { providers } from "./providers.ts";

/** The model that was taken. */
export interface ModelChoice {
  /** `provider/model`. */
  readonly name: string;
  /** One sentence for people: why this one. */
  readonly reason: string;
}

/**
 * Who may have named a model: the flag counts more than the setting.
 * @example
 * const { name, reason } = await chooseModel({
 *   flag: process.argv[2],
 *   setting: "openai/gpt-5",
 *   env: process.env,
 *   signal: AbortSignal.timeout(5_000),
 * });
 */
export interface ChooseOptions {
  /** The model that the command line names. */
  readonly flag?: string | undefined;
  /** The model that the settings name. */
  readonly setting?: string | undefined;
  /** Where keys and addresses are looked for; the environment of the process when absent. */
  readonly env?: Environment | undefined;
  readonly signal?: AbortSignal | undefined;
}

const OPTIONS: OptionNames<ChooseOptions> = { flag: true, setting: true, env: true, signal: true };

/**
 * Which model to take: the flag; else the setting; else the default model of the first provider whose key is set, in the
 * order anthropic, openai, google, mistral, xai, groq, deepseek, openrouter (`ANTHROPIC_API_KEY`, ...); else the first
 * model that the server at `OPENAI_COMPATIBLE_BASE_URL` lists; else the first model of the first local server that
 * answers, in the order ollama, lmstudio, llamacpp, vllm; else the offline demo.
 *
 * The names of flag and setting are taken as they are. `BANYAN_NO_DISCOVERY=1` leaves the local servers out. Rejects
 * only with the reason of `signal`.
 */
export async function chooseModel(options: ChooseOptions = {}): Promise<ModelChoice> {
  refuseUnknown("chooseModel", options, OPTIONS);
  const { flag, setting, env = process.env, signal } = options;
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
    for (const { provider, address, models } of await localServers(env, signal)) {
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
    reason: `Using demo/offline, a demo without a language model, because ${["no key is set", ...reasons].join(" and ")}; set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama, for a real model.`,
  };
}

function byKey({ name: provider, defaultModel, keyVariable }: Provider, env: Environment): ModelChoice | undefined {
  if (defaultModel === undefined || !isSet(env, keyVariable)) return undefined;
  const name = `${provider}/${defaultModel}`;
  return { name, reason: `Model: ${name} (${keyVariable} is set)` };
}

/** A provider that is wherever the user says: it has no default model, but lists its models. */
async function byAddress(provider: Provider, env: Environment, signal?: AbortSignal): Promise<ModelChoice | undefined> {
  if (!needsAddress(provider) || !hasGivenAddress(provider, env)) return undefined;
  const model = (await ask(provider, env, signal))?.models[0];
  if (model === undefined) return undefined;
  const name = `${provider.name}/${model}`;
  return { name, reason: `Model: ${name} (${provider.addressVariable} is set)` };
}

function needsAddress(provider: Provider): boolean {
  return provider.addressVariable !== undefined && provider.address === undefined;
}

function isSet(env: Environment, variable: string | undefined): boolean {
  return variable !== undefined && readVariable(env, variable) !== undefined;
}
