import type { ListedConversation } from "@banyan/protocol";
import { useEffect } from "react";
import { goToView } from "../../parts/browser/navigation.tsx";
import { usePage } from "../../parts/page/page.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { t } from "../../parts/phrases/phrases.ts";

/** Milliseconds in which a visible window must answer. */
const ASKED = 150;

/**
 * Shows system notifications about questions and finished turns while no window of the page is visible (W75). A click opens the
 * conversation. Several windows show one notification, because the system merges equal tags.
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
      const notification = new Notification(title || t("New conversation"), {
        body: what,
        tag: `${id} ${updatedAt}`,
        icon: "/icon-192.png",
      });
      notification.addEventListener("click", () => {
        window.focus();
        notification.close();
        goToView({ conversation: id });
      });
    };
    const stop = store.subscribe((now, before) => {
      if (now.conversations === before.conversations || !before.conversations) return;
      const known = new Map(before.conversations.map((each) => [each.id, each]));
      for (const each of now.conversations ?? []) {
        const what = newsOf(each, known.get(each.id), mayAnswer);
        // The list shows everything that the system does not.
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
