import type { Client } from "@banyan/protocol/client";
import type { ModelsHere } from "../commands/command.ts";
import type { RemoteSession } from "./remote-session.ts";

/** The models that a server can take, for one conversation, which `open` begins if there is none yet. */
export function remoteModels(server: Client, name: string, open: () => Promise<RemoteSession>): ModelsHere {
  return {
    current: { name },
    scope: "in this conversation",
    listProviders: async () => (await server.ask("model.list", {})).providers,
    listModels: async (provider) => (await server.ask("model.list", { provider })).models,
    use: async (model) => (await open()).changeModel(model),
  };
}
