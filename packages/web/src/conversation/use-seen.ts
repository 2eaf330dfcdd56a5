import type { ConversationState } from "@banyan/core/conversation";
import { useEffect } from "react";
import { usePage, usePageState } from "../page.ts";
import { useMay } from "../use-may.ts";

/** Tells the server that a person has looked at the conversation: when it is in view and something of it is unread (W47). */
export function useSeen({ id }: ConversationState): void {
  const { connection } = usePage();
  const unread = usePageState(({ conversations }) => conversations?.find((listed) => listed.id === id)?.unread ?? 0);
  const mayTell = useMay()("conversation.seen");
  useEffect(() => {
    if (unread === 0 || !mayTell) return;
    const tell = () => {
      if (document.visibilityState !== "visible") return;
      connection.ask("conversation.seen", { conversation: id }).catch(() => {
        // It stays unread, which is told again with the next change.
      });
    };
    tell();
    document.addEventListener("visibilitychange", tell);
    return () => document.removeEventListener("visibilitychange", tell);
  }, [connection, id, unread, mayTell]);
}
