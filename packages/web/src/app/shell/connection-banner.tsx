import { useEffect, useState } from "react";
import { Button } from "../../parts/design/button.tsx";
import { Notice } from "../../parts/design/notice.tsx";
import { usePage, usePageState } from "../../parts/page/page.ts";
import { t } from "../../parts/phrases/phrases.ts";

/** Milliseconds without a connection before the banner appears: most losses are shorter (W25: within 5 s). */
const QUIET = 1_500;

/** Reports a lost or refused connection, and the time of the next attempt (W25). */
export function ConnectionBanner() {
  const state = usePageState(({ connection }) => connection);
  if (state.phase === "gone") {
    return (
      <div className="px-4 py-2">
        <Notice
          tone="bad"
          isUrgent
          head={
            state.error.code === "refused"
              ? t("The page and the server have different versions")
              : t("The server ended the connection")
          }
          ways={
            <Button look="main" onClick={() => window.location.reload()}>
              {t("Reload the page")}
            </Button>
          }
        >
          {state.error.message}
        </Notice>
      </div>
    );
  }
  return state.phase === "lost" ? <Lost since={state.since} next={state.next} /> : null;
}

function Lost({ since, next }: { readonly since: number; readonly next: number }) {
  const page = usePage();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  if (now - since < QUIET) return null;
  const seconds = Math.ceil((next - now) / 1_000);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 bg-warn-ground px-4 py-2 text-sm text-warn">
      <span role="alert">{t("Connection lost. Your messages are kept and sent when the connection is back.")}</span>
      <span>{seconds > 0 ? t("Next try in {seconds} s.", { seconds }) : t("Connecting …")}</span>
      <Button isSmall onClick={() => page.connection.retry()}>
        {t("Try now")}
      </Button>
    </div>
  );
}
