import { Suspense, useEffect, useState } from "react";
import { lazily } from "../../parts/browser/lazily.ts";
import { usePageView } from "../../parts/browser/navigation.tsx";
import { Button, IconButton, SkipLink } from "../../parts/design/button.tsx";
import { SafePart } from "../../parts/design/notice.tsx";
import { ActionsProvider } from "../../parts/page/actions.tsx";
import { usePage, usePageState, waitingInAll } from "../../parts/page/page.ts";
import { usePreference } from "../../parts/page/preferences.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { t } from "../../parts/phrases/phrases.ts";
import { ConversationList } from "../conversations/conversation-list.tsx";
import { CommandKeys } from "../palette/command-keys.tsx";
import { PageActions } from "../palette/page-actions.tsx";
import { InView } from "../routes.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";

export function Shell() {
  const [listOpen, setListOpen] = useState(false);
  useTabTitle();
  const may = useMay();
  // A guest with a link sees one conversation (S29).
  const hasList = may("conversation.list");
  const shown = usePageView(({ conversation }) => conversation);
  // On a narrow screen, the list closes after a choice or a new conversation.
  useEffect(() => {
    if (shown !== undefined) setListOpen(false);
  }, [shown]);
  const onClick = ({ target }: React.MouseEvent) => {
    // Also for links inside the current view, for example to one of its messages.
    if ((target as Element).closest("a")) setListOpen(false);
  };
  return (
    <ActionsProvider>
      <CommandKeys />
      <PageActions />
      <SystemNotifications />
      <div className="flex h-full flex-col">
        {may("turn.say") && <SkipLink to="#composer">{t("Skip to the message box")}</SkipLink>}
        {shown !== undefined && <SkipLink to="[role=log] article[tabindex='0']">{t("Skip to the messages")}</SkipLink>}
        <ConnectionBanner />
        <ProblemBanner />
        <div className="flex min-h-0 flex-1">
          {hasList && (
            // biome-ignore lint/a11y/useKeyWithClickEvents: a key on a link is a click.
            <nav
              data-list=""
              aria-label={t("Conversations")}
              onClick={onClick}
              className={`${listOpen ? "flex" : "hidden"} w-full shrink-0 flex-col border-hair bg-raised md:flex md:w-66 md:border-e print:hidden`}
            >
              <SafePart of="list">
                <ConversationList />
              </SafePart>
            </nav>
          )}
          <main className={`${listOpen ? "hidden" : "flex"} relative min-w-0 flex-1 flex-col md:flex`}>
            {hasList && (
              <div className="absolute top-2 start-2 z-10 md:hidden print:hidden">
                <IconButton name={t("Conversations")} icon="menu" onClick={() => setListOpen(true)} />
              </div>
            )}
            <SafePart of={`${shown}`}>
              <InView />
            </SafePart>
          </main>
        </div>
      </div>
    </ActionsProvider>
  );
}

const Notifications = lazily(async () => ({ default: (await import("./notifications.tsx")).Notifications }));

function SystemNotifications() {
  const [notify] = usePreference("notify");
  if (notify === "off" || !("Notification" in window) || Notification.permission !== "granted") return null;
  return (
    <Suspense fallback={null}>
      <Notifications />
    </Suspense>
  );
}

function useTabTitle(): void {
  const shown = usePageView(({ conversation }) => conversation);
  const waiting = usePageState(waitingInAll);
  const listed = usePageState(({ conversations }) => conversations?.find(({ id }) => id === shown));
  const title = listed?.title;
  const isFailed = listed?.running === 0 && listed.broken === "failed";
  useEffect(() => {
    const name = title && (isFailed ? t("Failed: {title}", { title }) : title);
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${name ? `${name} · ` : ""}Banyan`;
  }, [waiting, title, isFailed]);
}

function ProblemBanner() {
  const { store } = usePage();
  const problem = usePageState((state) => state.problem);
  const note = usePageState((state) => state.note);
  if (problem === undefined && note === undefined) return null;
  return (
    <div
      className={`flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 text-sm ${problem === undefined ? "bg-leaf-ground" : "bg-bad-ground text-bad"}`}
    >
      <span className="whitespace-pre-line" role={problem === undefined ? "status" : "alert"}>
        {problem ?? note}
      </span>
      <Button isSmall onClick={() => store.setState({ problem: undefined, note: undefined })}>
        {t("Close")}
      </Button>
    </div>
  );
}
