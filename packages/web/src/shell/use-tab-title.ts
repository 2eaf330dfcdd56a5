import { useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";
import { usePageState, waitingInAll } from "../page.ts";

/** The title of the tab: how much waits for the person, and which conversation is in view (W34). */
export function useTabTitle(): void {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const waiting = usePageState(waitingInAll);
  const title = usePageState(({ conversations }) => conversations?.find(({ id }) => path === `/c/${id}`)?.title);
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${title ? `${title} · ` : ""}Banyan`;
  }, [waiting, title]);
}
