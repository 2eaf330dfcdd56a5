import type { Client } from "@banyan/client";
import type { ConversationState } from "@banyan/core";
import { windowOf } from "@banyan/core/hosts";
import type { Host, KnownModel } from "@banyan/host";
import type { ContextOverview, ModelSelection } from "../../commands/command.ts";
import type { TalkSession } from "../session/talk-session.ts";
import type { OwnDesk } from "./own-desk.ts";

/** Lets the user choose a server's model for one conversation. `open` begins the conversation if needed. */
export function serverModelSelection(client: Client, name: string, open: () => Promise<TalkSession>): ModelSelection {
  return {
    current: { name },
    scope: "in this conversation",
    listProviders: async () => (await client.ask("model.list", {})).providers,
    listModels: async (provider) => (await client.ask("model.list", { provider })).models,
    async use(model) {
      const session = await open();
      await session.perform("model.use", { model });
    },
  };
}

/** Lets the user choose a model of this program, for this and later conversations. */
export function modelSelection(desk: OwnDesk, session: TalkSession | undefined): ModelSelection {
  const { host } = desk;
  return {
    current: { name: host.model.name, ...knownFacts(host.agent.options.model) },
    scope: "and in later conversations",
    aliases: host.configuration.settings.aliases ?? {},
    listProviders: () => host.listProviders(),
    listModels: (provider) => host.listModels(provider),
    async use(name) {
      await desk.keepModel(name);
      await session?.perform("model.use", { model: name });
    },
  };
}

/** Returns the parts of the next model request on a branch, for an agent in this process. */
export async function ownContextOverview(
  host: Host,
  state: ConversationState,
  leaf: string | null,
): Promise<ContextOverview> {
  const parts = await host.contextParts(state, leaf);
  return { parts, size: contextSizeOf(host) };
}

/** Returns the parts of the next model request in a conversation, for an agent on a server. */
export async function serverContextOverview(
  client: Client,
  {
    conversation,
    leaf,
    model,
  }: { readonly conversation: string; readonly leaf: string | null; readonly model: string },
): Promise<ContextOverview> {
  const [{ parts }, size] = await Promise.all([
    client.ask("context.read", { conversation, ...(leaf === null ? {} : { leaf }) }),
    listedContextSize(model, client),
  ]);
  return { parts, size };
}

/** Returns the context size of the current model in tokens, if known. */
export function contextSizeOf({ agent }: Host): number | undefined {
  return knownFacts(agent.options.model).contextSize;
}

/** Returns a context size in tokens from the server's list of models. Names without a provider are in no list. */
async function listedContextSize(model: string, client: Client): Promise<number | undefined> {
  const { providers } = await client.ask("model.list", {});
  const provider = providers.find(({ name }) => model.startsWith(`${name}/`))?.name;
  const { models } = provider === undefined ? { models: [] } : await client.ask("model.list", { provider });
  const listed = models.find(({ name }) => name === model) ?? models.find(({ name }) => model.startsWith(`${name}:`));
  return listed?.contextSize;
}

function knownFacts(model: Host["agent"]["options"]["model"]): Pick<KnownModel, "price" | "contextSize"> {
  const contextSize = "stream" in model ? windowOf(model) : undefined;
  return {
    ...("price" in model && model.price && { price: model.price }),
    ...(contextSize !== undefined && { contextSize }),
  };
}
