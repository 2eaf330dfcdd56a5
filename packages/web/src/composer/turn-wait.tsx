import { itemSentence } from "@banyan/client/display";
import type { FeedItem } from "@banyan/core/conversation";
import { useEffect, useState } from "react";
import { useConversation } from "../conversation/use-conversation.ts";
import { Button } from "../design/button.tsx";
import { usePage } from "../page.ts";
import { say, t } from "../phrases/phrases.ts";
import { useMay } from "../use-may.ts";

type Waiting = Extract<FeedItem, { type: "turn.waiting" }>;

/** The turn that was asked for here and has not begun, because it waits for MCP servers (B83); nothing while none does. */
export function useTurnWait(): Waiting | undefined {
  const conversation = useConversation();
  const [waiting, setWaiting] = useState<Waiting>();
  useEffect(() => {
    setWaiting(undefined);
    return conversation.hear((item) => {
      if (item.type === "turn.waiting") setWaiting(item.waits ? item : undefined);
      // Of a server that began anew the last word may never come.
      else if (item.type === "run.started" && item.call === undefined) setWaiting(undefined);
    });
  }, [conversation]);
  return waiting;
}

/** What a turn waits for, and the ways on: to begin without it, or not at all. */
export function TurnWait({ waiting }: { readonly waiting: Waiting | undefined }) {
  const page = usePage();
  const { id: conversation } = useConversation();
  const may = useMay();
  const ask = (type: "turn.hasten" | "run.interrupt", run: string) =>
    page.told(page.connection.ask(type, { conversation, run }));
  return (
    <div role="status">
      {waiting && (
        <p className="flex flex-wrap items-center gap-2 text-sm text-warn">
          {itemSentence(waiting, say)}
          {may("turn.hasten") && (
            <>
              <Button isSmall onClick={() => ask("turn.hasten", waiting.command)}>
                {t("Continue without it")}
              </Button>
              <Button isSmall onClick={() => ask("run.interrupt", waiting.command)}>
                {t("Do not send")}
              </Button>
            </>
          )}
        </p>
      )}
    </div>
  );
}
