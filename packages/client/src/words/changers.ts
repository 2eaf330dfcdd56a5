import { type ConversationState, callIn, toolNameOf } from "@banyan/core/conversation";
import { cutTo, inEnglish, type Say, visibleLine } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import { subAgentLabel } from "./sub-agents.ts";

type ChangingParty = Result<"file.compare">["files"][number]["changers"][number];

/** Maximum number of parties in a text, and of characters of a command. */
const MOST = { parties: 3, command: 40 };

/**
 * Returns who changed a file, such as `Banyan (npm test), you or another program`. `agent`: name of the user's agent.
 * @example
 * const leaf = session.state.leaf ?? "";
 * const { files } = await client.ask("file.compare", { conversation: session.id, leaf, turn: true });
 * for (const { path, changers } of files) console.log(path, changersText(changers, session.state, "Banyan"));
 */
export function changersText(
  changers: readonly ChangingParty[],
  state: ConversationState,
  agent: string,
  say: Say = inEnglish,
): string {
  if (changers.length === 0) return say("before this conversation");
  const shown = changers.slice(0, MOST.parties).map((changer) => partyText(changer, { state, agent, say }));
  return [...shown, ...(changers.length > MOST.parties ? ["…"] : [])].join(", ");
}

function partyText(
  { by, call: id }: ChangingParty,
  { state, agent, say }: { readonly state: ConversationState; readonly agent: string; readonly say: Say },
): string {
  switch (by) {
    case "tool":
    case "command": {
      const call = id === undefined ? undefined : callIn(state, { call: id });
      const who = visibleLine(subAgentLabel(state, state.calls.get(id ?? "") ?? "") ?? agent);
      if (!call) return who;
      const [command = ""] = (call.about?.command ?? toolNameOf(call)).trim().split("\n", 1);
      return `${who} (${visibleLine(cutTo(command, MOST.command))})`;
    }
    case "background":
      return say("a running command");
    case "restoration":
      return say("a restoration");
    case "conversation":
      return say("another conversation");
    case "others":
      return say("you or another program");
  }
}
