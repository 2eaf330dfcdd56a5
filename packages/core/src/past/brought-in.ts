import type { EventBody } from "../conversation/event.ts";
import { isEnded } from "../conversation/message.ts";
import type { ConversationState } from "../conversation/state.ts";
import { sayingCall } from "../conversation/tree/call-state.ts";

/** What the model is told of a call that was open in a log from elsewhere. */
export const BROUGHT_IN = "Not executed: this conversation was brought in from elsewhere while the call was open.";

/** How a log came here: from an export, or as a file that somebody put where conversations are kept. */
export type Elsewhere = "import" | "file";

/**
 * What to write behind a log that was written elsewhere, before anybody goes on from it: nothing that it left open can run
 * here, no text that waits is sent, no rule holds, and the marker says so.
 */
export function broughtIn(state: ConversationState, how: Elsewhere): EventBody[] {
  const events: EventBody[] = [];
  for (const message of state.messages.values()) {
    if (message.role !== "assistant") continue;
    for (const call of message.calls) {
      if (isEnded(call.status)) continue;
      events.push({ type: "call.cancelled", ...sayingCall(message.id, call), output: BROUGHT_IN });
    }
  }
  for (const { id } of state.inbox) events.push({ type: "input.withdrawn", input: id });
  for (const pattern of new Set(state.allowed)) events.push({ type: "rule.revoked", pattern });
  events.push({ type: "conversation.brought-in", how });
  return events;
}
