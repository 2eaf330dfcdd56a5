import type { ConversationState, Message } from "@banyan/core/conversation";
import { createContext, useCallback, useContext, useEffect, useSyncExternalStore } from "react";
import { type PageConversation, TREE } from "./live-conversation.ts";

const Context = createContext<PageConversation | undefined>(undefined);

export const ConversationProvider = Context.Provider;

export function useConversation(): PageConversation {
  const conversation = useContext(Context);
  if (!conversation) throw new Error("This view is outside of a conversation.");
  return conversation;
}

/** Returns the tree in view. Every change except streaming text renders the view again. */
export function useTree(): ConversationState | undefined {
  const conversation = useConversation();
  useVersion(conversation, TREE);
  return conversation.state;
}

/** Returns a message, and requests its content if missing. Every change of the message renders the view again. */
export function useMessage(id: string): { readonly message: Message | undefined; readonly version: number } {
  const conversation = useConversation();
  const version = useVersion(conversation, id);
  const known = conversation.outline(id) === undefined;
  useEffect(() => {
    if (!known) conversation.read([id]);
  }, [conversation, id, known]);
  return { message: known ? conversation.state?.messages.get(id) : undefined, version };
}

function useVersion(conversation: PageConversation, what: string): number {
  // A stable function: a new one would subscribe again with every rendering of every message.
  const subscribe = useCallback((listener: () => void) => conversation.subscribe(what, listener), [conversation, what]);
  return useSyncExternalStore(subscribe, () => conversation.version(what));
}
