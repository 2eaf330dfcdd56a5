import { useEffect, useState } from "react";
import { useConversation } from "../conversation/use-conversation.ts";
import { usePage, usePageState } from "../page.ts";
import { t } from "../phrases/phrases.ts";
import { messageInWords } from "./attachments.ts";

/**
 * What was said while there was no connection: it goes out when there is one again, and can be taken back (W26); and what
 * has begun no turn yet, as that waits: the message of this id.
 */
export function UnsentList({ waiting }: { readonly waiting: string | undefined }) {
  const { id } = useConversation();
  const page = usePage();
  const { connection } = page;
  const unsent = usePageState((state) => state.unsent);
  const phase = usePageState((state) => state.connection.phase);
  const late = useLate(unsent);
  const isSeen = (message: string) => phase !== "open" || message === waiting || late.has(message);
  const here = unsent.filter((said) => said.conversation === id && isSeen(said.id));
  if (here.length === 0) return null;
  return (
    <ul aria-label={t("Not sent yet")} className="flex max-h-40 flex-col gap-1 overflow-y-auto text-sm">
      {here.map(({ id: message, prompt, ...said }) => (
        <li key={message} className="flex items-center gap-2 rounded border border-warn px-2 py-1">
          <span className="text-warn text-xs">{standing(message === waiting, connection.isSent(message))}</span>
          <span className="min-w-0 flex-1 truncate">
            {messageInWords({ ...said, ...(prompt !== undefined && { prompt }) })}
          </span>
          {!connection.isSent(message) && (
            <button
              type="button"
              onClick={() => connection.cancel(message)}
              className="min-h-6 rounded px-1 text-leaf text-xs hover:bg-sunken"
            >
              {t("Cancel")}
            </button>
          )}
          {connection.isSent(message) && prompt !== undefined && (
            <button
              type="button"
              // Its MCP server may hang: what was written comes back.
              onClick={() => page.told(connection.ask("run.interrupt", { conversation: id, run: message }))}
              className="min-h-6 rounded px-1 text-leaf text-xs hover:bg-sunken"
            >
              {t("Cancel")}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Milliseconds after which something that was said and is not there is late: the connection may be gone, and nobody knows. */
const LATE = 1_500;

/** What was said a while ago and has not come to the server. */
function useLate(unsent: readonly { readonly id: string }[]): ReadonlySet<string> {
  const [late, setLate] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const timer = setTimeout(() => setLate(new Set(unsent.map(({ id }) => id))), LATE);
    return () => clearTimeout(timer);
  }, [unsent]);
  return late;
}

function standing(isWaiting: boolean, isSent: boolean): string {
  if (isWaiting) return t("waiting");
  return isSent ? t("sending") : t("not sent");
}
