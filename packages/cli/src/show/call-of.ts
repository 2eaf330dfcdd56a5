import type { Call, ConversationState } from "@banyan/core";

/** The call that an item of a feed is about. */
export function callIn(
  state: ConversationState,
  item: { readonly message: string; readonly call: string },
): Call | undefined {
  const message = state.messages.get(item.message);
  return message?.role === "assistant" ? message.calls.find((call) => call.id === item.call) : undefined;
}
