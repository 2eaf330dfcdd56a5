import { useEffect, useState } from "react";
import { useConversation } from "../parts/conversation/use-conversation.ts";
import { usePage, usePageState } from "../parts/page/page.ts";
import { t } from "../parts/phrases/phrases.ts";
import { messageInWords } from "../transcript/attachments.ts";

/**
 * Lists messages that the user wrote without a connection. The page sends them with the next connection, unless the
 * user withdraws them (W26). Also shows the message with id `waiting`, whose turn has not begun.
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
          <span className="text-warn text-xs">{unsentState(message === waiting, connection.isSent(message))}</span>
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
              // The prompt's MCP server may hang: cancelling returns the text to the message box.
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

/** Milliseconds after which an unanswered message is late: the connection may be lost without notice. */
const LATE = 1_500;

function useLate(unsent: readonly { readonly id: string }[]): ReadonlySet<string> {
  const [late, setLate] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const timer = setTimeout(() => setLate(new Set(unsent.map(({ id }) => id))), LATE);
    return () => clearTimeout(timer);
  }, [unsent]);
  return late;
}

function unsentState(isWaiting: boolean, isSent: boolean): string {
  if (isWaiting) return t("waiting");
  return isSent ? t("sending") : t("not sent");
}
