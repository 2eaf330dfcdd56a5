import { useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";
import { usePageState, waitingInAll } from "../page.ts";
import { conversationIn } from "./address.ts";

/** The title of the tab: how much waits for the person, and which conversation is in view (W34). */
export function useTabTitle(): void {
  const shown = useRouterState({ select: ({ location }) => conversationIn(location.pathname) });
  const waiting = usePageState(waitingInAll);
  const listed = usePageState(({ conversations }) => conversations?.find(({ id }) => id === shown));
  const title = listed?.title;
  const broken = listed?.running === 0 && listed.broken === "failed" ? "No answer: " : "";
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${title ? `${broken}${title} · ` : ""}Banyan`;
  }, [waiting, title, broken]);
}
