import { Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { ConversationList } from "../conversations/conversation-list.tsx";
import { ActionsProvider } from "../palette/actions.tsx";
import { CommandKeys } from "../palette/command-keys.tsx";
import { PageActions } from "../palette/page-actions.tsx";
import { useMay } from "../use-may.ts";
import { ConnectionBanner } from "./connection-banner.tsx";
import { ProblemBanner } from "./problem-banner.tsx";
import { useTabTitle } from "./use-tab-title.ts";

/** The frame of the page: the list of conversations on the left, what is in view beside it. */
export function Shell() {
  const [listOpen, setListOpen] = useState(false);
  useTabTitle();
  const may = useMay();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // On a narrow screen the list gives way to what was chosen in it, or begun.
  useEffect(() => {
    if (path !== "") setListOpen(false);
  }, [path]);
  const onClick = ({ target }: React.MouseEvent) => {
    // Also to what is in view already: to a message of it, say.
    if ((target as Element).closest("a")) setListOpen(false);
  };
  return (
    <ActionsProvider>
      <CommandKeys />
      <PageActions />
      <div className="flex h-full flex-col">
        {may("turn.say") && (
          <a href="#composer" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-ground focus:p-2">
            Skip to the message box
          </a>
        )}
        <ConnectionBanner />
        <ProblemBanner />
        <div className="flex min-h-0 flex-1">
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: a key on a link is a click. */}
          <nav
            aria-label="Conversations"
            onClick={onClick}
            className={`${listOpen ? "flex" : "hidden"} w-full flex-col border-hair border-r bg-raised md:flex md:w-72 print:hidden`}
          >
            <ConversationList />
          </nav>
          <main className={`${listOpen ? "hidden" : "flex"} min-w-0 flex-1 flex-col md:flex`}>
            <button
              type="button"
              onClick={() => setListOpen(true)}
              className="border-hair border-b px-3 py-2 text-left text-sm text-soft md:hidden print:hidden"
            >
              ☰ Conversations
            </button>
            <Outlet />
          </main>
        </div>
      </div>
    </ActionsProvider>
  );
}
