import { PageLink } from "../../parts/browser/navigation.tsx";
import { useConversation } from "../../parts/conversation/use-conversation.ts";
import { Button } from "../../parts/design/button.tsx";
import { Notice } from "../../parts/design/notice.tsx";
import { usePageState } from "../../parts/page/page.ts";
import { t } from "../../parts/phrases/phrases.ts";

/**
 * Explains why a conversation is missing or no longer updated, and what to do (W52). Shows nothing while there is no
 * problem.
 */
export function ProblemCard() {
  const conversation = useConversation();
  const { problem, standing } = conversation;
  // The top of the page reports a lost server.
  const isGone = usePageState(({ connection }) => connection.phase === "gone");
  if (!problem || isGone) return null;
  return (
    <Notice
      tone={problem.code === "locked" ? "warn" : "bad"}
      isUrgent
      head={HEADS[problem.code] ?? t("This conversation can't be opened")}
      ways={
        <>
          {standing !== "removed" && problem.code !== "not-found" && (
            // Another program may have closed the conversation meanwhile.
            <Button look="main" onClick={() => conversation.again()}>
              {t("Try again")}
            </Button>
          )}
          <PageLink to={{}} className="inline-flex min-h-8 items-center px-1 text-leaf underline">
            {t("Go to the start page")}
          </PageLink>
        </>
      }
    >
      {WHY[problem.code] ?? problem.message}
    </Notice>
  );
}

const HEADS: Readonly<Record<string, string>> = {
  locked: t("This conversation is open in another program"),
  "not-found": t("Conversation not found"),
  removed: t("This conversation was removed"),
  damaged: t("The saved data of this conversation is damaged"),
};

/** Replaces the server's message where that would repeat the heading. */
const WHY: Readonly<Record<string, string>> = {
  "not-found": t("The conversation may have been removed, or the address is wrong."),
  removed: t("You can still read the conversation until you leave this page."),
};
