import { useState } from "react";
import { useCopy } from "../../parts/browser/use-copy.ts";
import { useConversation } from "../../parts/conversation/use-conversation.ts";
import { Button } from "../../parts/design/button.tsx";
import { usePage } from "../../parts/page/page.ts";
import { useServerAnswer } from "../../parts/page/use-server-answer.ts";
import { formatPageTime, t } from "../../parts/phrases/phrases.ts";

const UNTIL = { dateStyle: "medium", timeStyle: "short" } as const;

/** Creates, copies and revokes links that show this conversation or one branch to anyone who has them (W73). */
export function Sharing({ leaf }: { readonly leaf: string | null }) {
  const page = usePage();
  const { id: conversation } = useConversation();
  const [address, setAddress] = useState<string>();
  const [changes, setChanges] = useState(0);
  // A server without links reports the problem when the user creates a link.
  const { answer } = useServerAnswer("share.list", { conversation }, changes);
  const make = async (shown: { readonly leaf?: string }) => {
    const { path } = await page.connection.ask("share.create", { conversation, ...shown });
    setAddress(new URL(path, window.location.origin).href);
    setChanges((count) => count + 1);
  };
  const revoke = async (share: string) => {
    await page.connection.ask("share.revoke", { share });
    setAddress(undefined);
    setChanges((count) => count + 1);
  };
  return (
    <section aria-label={t("Share")} className="mt-3">
      <h2 className="font-medium">{t("Share")}</h2>
      <p className="text-soft text-xs">{t("Anyone with the link can view this for one week.")}</p>
      <div className="mt-1 flex flex-wrap gap-2">
        <Button isSmall onClick={() => page.told(make({}))}>
          {t("Link to the conversation")}
        </Button>
        {leaf !== null && (
          <Button isSmall onClick={() => page.told(make({ leaf }))}>
            {t("Link to this branch")}
          </Button>
        )}
      </div>
      {address !== undefined && <Made address={address} />}
      <ul aria-label={t("Links")} className="mt-2 flex flex-col gap-1">
        {answer?.shares.map((share) => (
          <li key={share.id} className="flex items-center justify-between gap-2 text-xs">
            <span>
              {share.leaf === undefined
                ? t("Link to this conversation, expires {time}", { time: formatPageTime(share.expiresAt, UNTIL) })
                : t("Link to this branch, expires {time}", { time: formatPageTime(share.expiresAt, UNTIL) })}
            </span>
            <Button isSmall look="bad" onClick={() => page.told(revoke(share.id))}>
              {t("Revoke")}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The address is shown only once: the server does not store it. */
function Made({ address }: { readonly address: string }) {
  const { isCopied, copy } = useCopy(address);
  return (
    <p className="mt-2 flex items-center gap-2">
      <input
        readOnly
        aria-label={t("Link")}
        value={address}
        onFocus={({ target }) => target.select()}
        className="min-w-0 flex-1 rounded-md border border-hair bg-sunken px-2 font-mono text-xs"
      />
      <Button isSmall onClick={copy}>
        {isCopied ? t("Copied") : t("Copy")}
      </Button>
    </p>
  );
}
