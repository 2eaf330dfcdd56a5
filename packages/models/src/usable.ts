import { type Environment, readVariable } from "./environment.ts";
import { ask, localServers } from "./local-servers.ts";
import { providers } from "./providers.ts";

/** A model that can be used as things are. */
export interface UsableModel {
  /** `provider/model`. */
  readonly name: string;
  /** Why it can be used, in a few words. */
  readonly note: string;
}

/** Milliseconds that a server at an address which the user set has to answer. */
const PATIENCE = 1000;

/**
 * The models that can be used now: the default model of each provider with a key, what servers at addresses in the
 * environment and on this machine list, and the offline demo. A provider with a key has more models than the one named
 * here. Rejects only with the reason of `signal`.
 */
export async function usableModels(env: Environment, signal?: AbortSignal): Promise<UsableModel[]> {
  const keyed = providers.flatMap(({ name, defaultModel, keyVariable }): UsableModel[] => {
    const set = defaultModel !== undefined && keyVariable !== undefined && readVariable(env, keyVariable) !== undefined;
    return set ? [{ name: `${name}/${defaultModel}`, note: `${keyVariable} is set` }] : [];
  });
  const addressed = providers.filter(
    ({ address, addressVariable }) =>
      address === undefined && addressVariable !== undefined && readVariable(env, addressVariable) !== undefined,
  );
  const search = readVariable(env, "BANYAN_NO_DISCOVERY") === "1" ? [] : localServers(env, signal);
  const [remote, local] = await Promise.all([
    Promise.all(addressed.map((provider) => ask(provider, env, PATIENCE, signal))),
    search,
  ]);
  const listed = [...remote, ...local].flatMap((server) =>
    server ? server.models.map((model) => ({ name: `${server.provider}/${model}`, note: `at ${server.address}` })) : [],
  );
  return [...keyed, ...listed, { name: "demo/offline", note: "the offline demo: a few rules, not a language model" }];
}
