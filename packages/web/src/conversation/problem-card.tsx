import { Button } from "../design/button.tsx";
import { Notice } from "../design/notice.tsx";
import { t } from "../phrases/phrases.ts";
import { PlaceLink } from "../shell/navigation.tsx";
import { useConversation } from "./use-conversation.ts";

/** Why a conversation is not there, or is not followed any more, and the ways on (W52); nothing while all is well. */
export function ProblemCard() {
  const conversation = useConversation();
  const { problem, standing } = conversation;
  if (!problem) return null;
  return (
    <Notice
      tone={problem.code === "locked" ? "warn" : "bad"}
      isUrgent
      head={HEADS[problem.code] ?? t("This conversation cannot be followed")}
      ways={
        <>
          {standing !== "removed" && problem.code !== "not-found" && (
            // Another program may have let go of it meanwhile.
            <Button look="main" onClick={() => conversation.again()}>
              {t("Try again")}
            </Button>
          )}
          <PlaceLink to={{}} className="inline-flex min-h-8 items-center px-1 text-leaf underline">
            {t("To the first page")}
          </PlaceLink>
        </>
      }
    >
      {problem.message}
    </Notice>
  );
}

const HEADS: Readonly<Record<string, string>> = {
  locked: t("Another program has this conversation open"),
  "not-found": t("This conversation is not there"),
  removed: t("This conversation is removed"),
  damaged: t("What is kept of this conversation is damaged"),
};
