import type { Client } from "@banyan/protocol/client";
import type { ContextHere } from "../commands/command.ts";

/** What a model of a server is sent on a branch of a conversation, and how much of it the model takes. */
export async function remoteContext(
  server: Client,
  {
    conversation,
    leaf,
    model,
  }: { readonly conversation: string; readonly leaf: string | null; readonly model: string },
): Promise<ContextHere> {
  const [{ parts }, size] = await Promise.all([
    server.ask("context.read", { conversation, ...(leaf === null ? {} : { leaf }) }),
    sizeOf(model, server),
  ]);
  return { parts, size };
}

/** Tokens that a model takes, if a list of the server's says so: a name without a provider is in none. */
async function sizeOf(model: string, server: Client): Promise<number | undefined> {
  const { providers } = await server.ask("model.list", {});
  const provider = providers.find(({ name }) => model.startsWith(`${name}/`))?.name;
  const { models } = provider === undefined ? { models: [] } : await server.ask("model.list", { provider });
  const listed = models.find(({ name }) => name === model) ?? models.find(({ name }) => model.startsWith(`${name}:`));
  return listed?.contextSize;
}
