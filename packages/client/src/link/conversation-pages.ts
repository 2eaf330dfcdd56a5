import type { ListedConversation } from "@banyan/protocol";
import { CONVERSATIONS_AT_ONCE } from "@banyan/protocol/values";
import type { Client, CommandValues } from "./client.ts";

/**
 * Yields all conversations of a server, last written first, page by page. A conversation that is written meanwhile may
 * be missing: it is then in a `conversations` frame, if the client watches the list. Rejects with `ClientError`.
 */
export async function* conversationPages(
  client: Pick<Client, "ask">,
  query: Pick<CommandValues<"conversation.list">, "cwd" | "programs"> = {},
): AsyncGenerator<readonly ListedConversation[]> {
  for (let last: ListedConversation | undefined; ; ) {
    const after = last && { id: last.id, updatedAt: last.updatedAt };
    const { conversations } = await client.ask("conversation.list", { ...query, ...(after && { after }) });
    yield conversations;
    last = conversations.at(-1);
    // An older server knows no pages, and sends the same conversations again.
    if (conversations.length !== CONVERSATIONS_AT_ONCE || last?.id === after?.id) return;
  }
}
