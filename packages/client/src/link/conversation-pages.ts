import { listInPages } from "@banyan/core/stores";
import type { ListedConversation } from "@banyan/protocol";
import { CONVERSATIONS_AT_ONCE } from "@banyan/protocol/values";
import type { Client, CommandValues } from "./client.ts";

/**
 * Yields all conversations of a server page by page, each conversation once. The conversation with the newest message
 * comes first. Conversations that get messages meanwhile come last. Rejects with `ClientError`.
 * @example for await (const page of conversationPages(client)) console.log(page.map(({ title }) => title));
 */
export function conversationPages(
  client: Pick<Client, "ask">,
  query: Pick<CommandValues<"conversation.list">, "cwd" | "programs"> = {},
): AsyncGenerator<readonly ListedConversation[]> {
  return listInPages(async (last?: ListedConversation) => {
    const after = last && { id: last.id, updatedAt: last.updatedAt };
    return (await client.ask("conversation.list", { ...query, ...(after && { after }) })).conversations;
  }, CONVERSATIONS_AT_ONCE);
}
