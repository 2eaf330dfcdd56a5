import { configuredServers, type McpPlace, type McpServers, openServers, unknownServer } from "@banyan/host/mcp";
import { openAddress } from "./open-address.ts";

/** A server that is connected, or has failed to be. */
export interface Connected {
  readonly servers: McpServers;
  readonly state: McpServers["states"][number];
}

/**
 * Connects to one server that counts here, whether it is switched off or not. Somebody waits: where it wants them to
 * sign in, a page is opened if `mayOpen`.
 */
export async function connected(
  place: McpPlace,
  name: string,
  mayOpen: boolean,
  tell: (text: string) => void,
): Promise<Connected & AsyncDisposable> {
  const { servers: configured } = configuredServers(place);
  const wanted = configured.find((server) => server.name === name);
  if (wanted === undefined)
    throw unknownServer(
      name,
      configured.map((server) => server.name),
      "here",
    );
  const { disabled: _, ...entry } = wanted.entry;
  const servers = await openServers(
    place,
    { [name]: entry },
    mayOpen ? { openAddress: (address) => openAddress(address, place.env, tell) } : {},
  );
  await servers.settled();
  const [state] = servers.states;
  if (state === undefined) throw new Error(`Nothing is known of ${name}.`);
  return { servers, state, [Symbol.asyncDispose]: () => servers.close() };
}
