import type { ListedConversation } from "@banyan/protocol";
import { useEffect } from "react";
import { usePage } from "../page.ts";
import { t } from "../phrases/phrases.ts";
import { useMay } from "../use-may.ts";
import { go } from "./navigation.tsx";

/** Milliseconds in which a window in which somebody looks says so. */
const ASKED = 150;

/**
 * Tells of what waits for the person and of what has ended, by the system, while they look at no window of the page (W75). A
 * click goes there. Several windows tell it once: the system replaces what has the same tag.
 */
export function Notifications() {
  const { store } = usePage();
  const mayAnswer = useMay()("question.answer");
  useEffect(() => {
    const windows = new BroadcastChannel("banyan-looking");
    windows.addEventListener("message", ({ data }) => {
      if (data === "looking?" && isLookedAt()) windows.postMessage("looking");
    });
    const tell = async ({ id, title, updatedAt }: ListedConversation, what: string) => {
      if (isLookedAt() || (await isElsewhereLookedAt(windows))) return;
      const told = new Notification(title || t("New conversation"), {
        body: what,
        tag: `${id} ${updatedAt}`,
        icon: "/icon-192.png",
      });
      told.addEventListener("click", () => {
        window.focus();
        told.close();
        go({ conversation: id });
      });
    };
    const stop = store.subscribe((now, before) => {
      if (now.conversations === before.conversations || !before.conversations) return;
      const known = new Map(before.conversations.map((each) => [each.id, each]));
      for (const each of now.conversations ?? []) {
        const what = newsOf(each, known.get(each.id), mayAnswer);
        // What the system does not show is in the list all the same.
        if (what !== undefined) tell(each, what).catch(() => {});
      }
    });
    return () => {
      stop();
      windows.close();
    };
  }, [store, mayAnswer]);
  return null;
}

/** What is new of a conversation that somebody would want to be told. */
function newsOf(
  now: ListedConversation,
  before: ListedConversation | undefined,
  mayAnswer: boolean,
): string | undefined {
  if (!before) return undefined;
  if (now.waiting > before.waiting) return mayAnswer ? t("The agent is waiting for you.") : undefined;
  if (before.running === 0 || now.running > 0 || now.waiting > 0) return undefined;
  if (now.broken === "failed") return t("The agent failed.");
  return now.broken === "limit" ? t("The agent stopped at a limit.") : t("The agent is done.");
}

function isLookedAt(): boolean {
  return document.visibilityState === "visible" && document.hasFocus();
}

async function isElsewhereLookedAt(windows: BroadcastChannel): Promise<boolean> {
  const answer = new Promise<boolean>((resolve) => {
    windows.addEventListener("message", ({ data }) => data === "looking" && resolve(true));
    setTimeout(() => resolve(false), ASKED);
  });
  windows.postMessage("looking?");
  return answer;
}
