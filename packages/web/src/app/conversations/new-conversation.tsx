import { FIRST_PAGE, moveDraft } from "../../composer/draft.ts";
import { composed } from "../../parts/browser/keys.ts";
import { lazily } from "../../parts/browser/lazily.ts";
import { currentView, goToView } from "../../parts/browser/navigation.tsx";
import { Button } from "../../parts/design/button.tsx";
import { type Page, usePage } from "../../parts/page/page.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { t } from "../../parts/phrases/phrases.ts";

export const ConversationView = lazily(async () => ({
  default: (await import("../conversation/conversation-view.tsx")).ConversationView,
}));

export function NewConversation() {
  const page = usePage();
  const begin = useBegin();
  if (!useMay()("conversation.create")) return null;
  return (
    <Button icon="new" onClick={() => page.told(begin())}>
      {t("New conversation")}
    </Button>
  );
}

export function useBegin(): () => Promise<void> {
  const page = usePage();
  return async () => {
    const open = opening(page);
    const { conversation } = await page.connection.ask("conversation.create", {});
    await open(conversation);
  };
}

let wanted = 0;

/**
 * Call this when a user requests a conversation. Returns a function that shows the conversation, unless the user has
 * navigated elsewhere in the meantime.
 */
export function opening(page: Page): (conversation: string) => Promise<void> {
  wanted++;
  const own = wanted;
  return (conversation) => showWhenReady(page, conversation, () => own === wanted);
}

/**
 * Shows a new conversation when its composer is ready, unless the user has navigated or wants another one meanwhile.
 * Until then the first page stays, so that every key reaches one of the two message boxes. Text from the first page
 * moves along (W83).
 */
async function showWhenReady(page: Page, conversation: string, isWanted: () => boolean): Promise<void> {
  const before = currentView().conversation;
  const live = page.follow(conversation);
  await Promise.all([
    ConversationView.ahead(),
    live.change(() => live.state !== undefined || live.problem !== undefined),
  ]);
  // Replacing the message box would end an input method's composition.
  await composed();
  const now = currentView().conversation;
  if (now === conversation) return;
  if (now !== before || !isWanted()) return page.leave(conversation);
  if (now === undefined) moveDraft(FIRST_PAGE, conversation);
  goToView({ conversation });
}
