import { itemSentence } from "@banyan/client/display";
import type { FeedItem } from "@banyan/core/conversation";
import { useEffect, useState } from "react";
import { useConversation } from "../parts/conversation/use-conversation.ts";
import { Button } from "../parts/design/button.tsx";
import { usePage } from "../parts/page/page.ts";
import { useMay } from "../parts/page/use-may.ts";
import { say, t } from "../parts/phrases/phrases.ts";

type TurnWaitItem = Extract<FeedItem, { type: "turn.waiting" }>;

/** Returns the requested turn that waits for MCP servers before it begins (B83); `undefined` while none waits. */
export function useTurnWait(): TurnWaitItem | undefined {
  const conversation = useConversation();
  const [waiting, setWaiting] = useState<TurnWaitItem>();
  useEffect(() => {
    setWaiting(undefined);
    return conversation.hear((item) => {
      if (item.type === "turn.waiting") setWaiting(item.waits ? item : undefined);
      // A restarted server may never send the end of the wait.
      else if (item.type === "run.started" && item.call === undefined) setWaiting(undefined);
    });
  }, [conversation]);
  return waiting;
}

/** Explains why a turn waits, with buttons to begin without the MCP servers or to cancel. */
export function TurnWait({ waiting }: { readonly waiting: TurnWaitItem | undefined }) {
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
