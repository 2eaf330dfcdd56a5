import type { ConversationState } from "@banyan/core";
import type { LiveTerminal } from "../terminal/full/live-terminal.ts";

/** Shows the sub-agents of a conversation until the person goes back. There must be some. */
export async function viewAgents(live: LiveTerminal, state: ConversationState): Promise<void> {
  const { AgentsView } = await import("../terminal/full/views/agents-view.ts");
  await live.open(new AgentsView(state));
}
