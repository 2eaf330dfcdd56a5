import { visibleLine } from "@banyan/core/shown";
import { useConversation, useTree } from "../../parts/conversation/use-conversation.ts";
import { Button } from "../../parts/design/button.tsx";
import { Notice } from "../../parts/design/notice.tsx";
import { usePage } from "../../parts/page/page.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { t } from "../../parts/phrases/phrases.ts";

/**
 * Lists the rules of the conversation that now allow less than when the user added them, each with a revoke button
 * (S33).
 */
export function NarrowedRules() {
  const page = usePage();
  const conversation = useConversation();
  const may = useMay();
  // A revoked rule disappears at once.
  useTree();
  if (conversation.narrowed.length === 0) return null;
  return (
    <div className="mx-auto flex w-full max-w-text flex-col gap-2 px-4 pb-2">
      {conversation.narrowed.map(({ rule, reason }) => (
        <Notice
          key={rule}
          tone="warn"
          head={t("This rule now allows less than when you added it")}
          ways={
            may("rule.revoke") && (
              <Button
                isSmall
                aria-label={t("Revoke {pattern}", { pattern: rule })}
                onClick={() =>
                  page.told(page.connection.ask("rule.revoke", { conversation: conversation.id, pattern: rule }))
                }
              >
                {t("Revoke")}
              </Button>
            )
          }
        >
          {visibleLine(reason)}
        </Notice>
      ))}
    </div>
  );
}
