import { itemSentence } from "@banyan/client/display";
import { useEffect, useState } from "react";
import type { PageConversation } from "../../parts/conversation/live-conversation.ts";
import { useConversation, useTree } from "../../parts/conversation/use-conversation.ts";
import { say } from "../../parts/phrases/phrases.ts";

/** One line, updated each second, while the branch's model is retried or sends nothing for long. */
export function ModelWait({ leaf }: { readonly leaf: string | null }) {
  const conversation = useConversation();
  // Renders again when the reason changes.
  useTree();
  const { wait } = conversation;
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!wait) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [wait]);
  if (!wait || !isInView(conversation, wait.run, leaf)) return null;
  return (
    <p role="status" aria-live="off" className="mx-auto w-full max-w-text px-4 pb-1 text-soft text-sm">
      {itemSentence(
        wait.type === "model.waiting"
          ? wait
          : { ...wait, delay: Math.max(0, Math.ceil((wait.nextAt - now) / 1_000) * 1_000) },
        say,
      )}
    </p>
  );
}

function isInView(conversation: PageConversation, run: string, leaf: string | null): boolean {
  const at = conversation.state?.runs.get(run)?.leaf;
  return at !== undefined && (at === null || conversation.path(leaf).includes(at));
}
