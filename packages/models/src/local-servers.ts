import { canChatByName } from "./catalogue.ts";
import { type Environment, readVariable } from "./environment.ts";
import type { Provider } from "./provider.ts";
import { providers } from "./providers.ts";
import { addressOf } from "./set-up.ts";

/** A model server on the user's machine that answers. */
export interface LocalServer {
  /** The provider's name: `ollama`, `lmstudio`, `llamacpp`, `vllm`. */
  readonly provider: string;
  readonly address: string;
  /** What it offers to chat with, as it names them; may be empty. */
  readonly models: readonly string[];
}

/** Milliseconds that a server has to answer at the address that the user set. */
const PATIENCE = 3000;
/** The same on its usual port, where there may be none. */
const PATIENCE_WITH_GUESSED = 300;

/**
 * The local servers that answer now, in the order of the providers; all are asked at the same time. A server is looked for
 * on its usual port, for 300 ms, or at the address that its variable gives (`OLLAMA_BASE_URL`, ...), for 3 seconds.
 * Rejects only with the reason of `signal`.
 */
export async function localServers(env: Environment = process.env, signal?: AbortSignal): Promise<LocalServer[]> {
  const found = await Promise.all(
    providers.filter((provider) => provider.local).map((provider) => ask(provider, env, signal)),
  );
  return found.filter((server) => server !== undefined);
}

/**
 * The models to chat with that a server lists, asked at the address of its provider; `undefined` when it does not answer in
 * time, or not in the format. Rejects only with the reason of `signal`.
 */
export async function ask(
  provider: Provider,
  env: Environment,
  signal?: AbortSignal,
): Promise<LocalServer | undefined> {
  const key = provider.keyVariable === undefined ? undefined : readVariable(env, provider.keyVariable);
  const timeout = AbortSignal.timeout(hasGivenAddress(provider, env) ? PATIENCE : PATIENCE_WITH_GUESSED);
  try {
    const address = addressOf(provider, env);
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
    // There is no such address, nobody answers there, or something else than a model server does. In any case there is no
    // server to offer.
    signal?.throwIfAborted();
    return undefined;
  }
}

/** Whether the user says where the server of a provider is. */
export function hasGivenAddress({ addressVariable }: Provider, env: Environment): boolean {
  return addressVariable !== undefined && readVariable(env, addressVariable) !== undefined;
}

function modelsIn(list: unknown): string[] | undefined {
  if (typeof list !== "object" || list === null || !("data" in list)) return undefined;
  // Ollama says `null` when it has no model.
  if (list.data === null) return [];
  if (!Array.isArray(list.data)) return undefined;
  return list.data
    .map((model: { id?: unknown } | null) => model?.id)
    .filter((id) => typeof id === "string")
    .filter(canChatByName);
}
