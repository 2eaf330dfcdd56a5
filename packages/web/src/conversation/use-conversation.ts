import type { ConversationState, Message } from "@banyan/core/conversation";
import { createContext, useCallback, useContext, useEffect, useSyncExternalStore } from "react";
import { type LiveConversation, TREE } from "./live-conversation.ts";

const Context = createContext<LiveConversation | undefined>(undefined);

/** Makes a conversation known to the views below. */
export const ConversationProvider = Context.Provider;

/** The conversation in view. */
export function useConversation(): LiveConversation {
  const conversation = useContext(Context);
  if (!conversation) throw new Error("This view stands outside of a conversation.");
  return conversation;
}

/** The tree in view; the view is drawn again when anything but streaming text changes. */
export function useTree(): ConversationState | undefined {
  const conversation = useConversation();
  useVersion(conversation, TREE);
  return conversation.state;
}

/** A message, asked for when it has not been read; the view is drawn again whenever it changes. */
export function useMessage(id: string): { readonly message: Message | undefined; readonly version: number } {
  const conversation = useConversation();
  const version = useVersion(conversation, id);
  const known = conversation.outline(id) === undefined;
  useEffect(() => {
    if (!known) conversation.read([id]);
  }, [conversation, id, known]);
  return { message: known ? conversation.state?.messages.get(id) : undefined, version };
}

function useVersion(conversation: LiveConversation, what: string): number {
  // The same one each time: it is subscribed anew to another one, with every rendering of every message.
  const subscribe = useCallback((listener: () => void) => conversation.subscribe(what, listener), [conversation, what]);
  return useSyncExternalStore(subscribe, () => conversation.version(what));
}
