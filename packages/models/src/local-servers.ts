import { checkArguments, OptionError } from "@banyan/core/conversation";
import { canChatByName } from "./provider/catalogue.ts";
import { type EnvironmentVariables, processVariables, readVariable } from "./provider/environment.ts";
import type { Provider } from "./provider/provider.ts";
import { providerAddress } from "./provider/set-up.ts";
import { providers } from "./providers.ts";

/** A model server that runs on the user's machine. See {@link localModelServers}. */
export interface LocalModelServer {
  /** The provider's name: `ollama`, `lmstudio`, `llamacpp`, `vllm`. */
  readonly provider: string;
  readonly address: string;
  /** The names of the server's chat models. The list can be empty. */
  readonly models: readonly string[];
}

/** Timeout in milliseconds at an address that the user set. */
const PATIENCE = 3000;
/** Timeout in milliseconds at the default port, where there may be no server. */
const PATIENCE_WITH_GUESSED = 300;

/**
 * Lists the local model servers that answer now: within 300 ms at the default port, or within 3 seconds at the address
 * in the server's environment variable (`OLLAMA_BASE_URL`, ...). Rejects only with the reason of `signal`.
 * @example for (const server of await localModelServers()) console.log(server);
 */
export async function localModelServers(
  env: EnvironmentVariables = processVariables(),
  signal?: AbortSignal,
): Promise<LocalModelServer[]> {
  checkArguments("localModelServers", { env }, { env: "object" });
  requireSignal("localModelServers", signal);
  const found = await Promise.all(
    providers.filter((provider) => provider.local).map((provider) => askLocalServer(provider, env, signal)),
  );
  return found.filter((server) => server !== undefined);
}

/** Throws `OptionError` for a value that is no signal. */
export function requireSignal(owner: string, signal: AbortSignal | undefined): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw new OptionError(`The signal of ${owner} must be an AbortSignal, such as AbortSignal.timeout(5_000).`);
}

/** Lists a server's chat models; `undefined` for no answer in time. Rejects only with the reason of `signal`. */
export async function askLocalServer(
  provider: Provider,
  env: EnvironmentVariables,
  signal?: AbortSignal,
): Promise<LocalModelServer | undefined> {
  const key = provider.keyVariable === undefined ? undefined : readVariable(env, provider.keyVariable);
  const timeout = AbortSignal.timeout(hasGivenAddress(provider, env) ? PATIENCE : PATIENCE_WITH_GUESSED);
  try {
    const address = providerAddress(provider, env);
    const response = await fetch(`${address}/models`, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    if (!response.ok) {
      await response.body?.cancel();
      return undefined;
    }
    const models = modelsIn(await response.json());
    return models && { provider: provider.name, address, models };
  } catch {
    // The address is wrong, nothing answers, or the program is no model server.
    signal?.throwIfAborted();
    return undefined;
  }
}

/** Returns whether the user set the address of a provider's server in the environment. */
export function hasGivenAddress({ addressVariable }: Provider, env: EnvironmentVariables): boolean {
  return addressVariable !== undefined && readVariable(env, addressVariable) !== undefined;
}

function modelsIn(list: unknown): string[] | undefined {
  if (typeof list !== "object" || list === null || !("data" in list)) return undefined;
  if (list.data === null) return [];
  if (!Array.isArray(list.data)) return undefined;
  return list.data
    .map((model: { id?: unknown } | null) => model?.id)
    .filter((id) => typeof id === "string")
    .filter(canChatByName);
}
