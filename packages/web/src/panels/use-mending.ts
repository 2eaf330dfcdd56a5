import { type Finding, mendingRequest } from "@banyan/core/conversation";
import { useConversation } from "../parts/conversation/use-conversation.ts";
import { useShow } from "../parts/conversation/use-view.ts";
import { usePage } from "../parts/page/page.ts";

/** Sends a finding to the agent that made the changes, and shows its branch. */
export function useMending(): (finding: Finding) => Promise<void> {
  const { connection } = usePage();
  const conversation = useConversation();
  const show = useShow();
  return async (finding) => {
    if (!conversation.state) return;
    const { text, ...at } = mendingRequest(conversation.state, finding);
    const parts = [{ type: "text", text }] as const;
    // A reviewer, not the user, wrote the text: attach no files that it names.
    const said = await connection.ask("turn.say", { conversation: conversation.id, parts, ...at, asIs: true });
    show(said.message);
  };
}
