import { type ConversationState, pathTo, type Session } from "@banyan/core";
import type { Host, KnownModel } from "@banyan/host";
import type { ContextHere, ModelsHere } from "../commands/command.ts";

/** The models that can be taken in a chat with an agent of this process. */
export function hostModels(host: Host, session: Session | undefined): ModelsHere {
  return {
    current: { name: host.model.name, ...factsOf(host.agent.options.model) },
    scope: "and in later conversations",
    listProviders: () => host.listProviders(),
    listModels: (provider) => host.listModels(provider),
    async use(name) {
      await host.changeModel(name);
      await session?.changeModel(name);
    },
  };
}

/** What the model of an agent of this process is sent on a branch. */
export async function sentHere(host: Host, state: ConversationState, leaf: string | null): Promise<ContextHere> {
  const parts = await host.contextParts(pathTo(state, leaf));
  return { parts, size: factsOf(host.agent.options.model).contextSize };
}

/** What is known of a model that no list has. */
function factsOf(model: Host["agent"]["options"]["model"]): Pick<KnownModel, "price" | "contextSize"> {
  return {
    ...("price" in model && model.price && { price: model.price }),
    ...("contextSize" in model && model.contextSize !== undefined && { contextSize: model.contextSize }),
  };
}
