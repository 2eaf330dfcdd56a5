import { emptyConversation, reduce } from "@banyan/core";
import { fromJson } from "@banyan/host/exchange";
import type { Client } from "@banyan/protocol/client";
import { type Choosable, FOUND } from "../conversations/choose.ts";

/** The conversations of a server, for a person to choose among. Each rejects with `ClientError`. */
export function remoteConversations(server: Client): Choosable {
  const { agent, workspace } = server.welcome;
  return {
    agent,
    workspace,
    list: async () => (await server.ask("conversation.list", {})).conversations,
    async search(query) {
      const { hits } = await server.ask("conversation.search", { query, limit: FOUND });
      return hits.map(({ conversation }) => conversation);
    },
    // To be looked at only: to subscribe would open it there.
    async read(conversation) {
      const { text } = await server.ask("conversation.export", { conversation, format: "json" });
      const state = emptyConversation(conversation);
      for (const event of fromJson(text).events) reduce(state, event);
      return state;
    },
  };
}
