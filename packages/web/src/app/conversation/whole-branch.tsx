import { useEffect } from "react";
import { PageLink } from "../../parts/browser/navigation.tsx";
import { useConversation, useTree } from "../../parts/conversation/use-conversation.ts";
import { t, tCount } from "../../parts/phrases/phrases.ts";
import { MessageArticle } from "../../transcript/message-article.tsx";

/** Shows all messages of a branch at once, for printing and the browser's search; other views contain only visible messages. */
export function WholeBranch({ leaf }: { readonly leaf: string | null }) {
  const conversation = useConversation();
  // Renders again after each read message.
  useTree();
  const path = conversation.path(leaf);
  const unread = path.filter((id) => conversation.outline(id) !== undefined);
  useEffect(() => conversation.read(unread), [conversation, unread]);
  return (
    <div className="min-h-0 flex-1 overflow-y-auto print:overflow-visible">
      <div className="mx-auto flex max-w-text flex-col gap-4 px-4 py-3">
        <p role="status" className="flex flex-wrap items-center gap-x-4 gap-y-1 text-soft text-sm print:hidden">
          {unread.length === 0
            ? tCount(
                path.length,
                "The only message of this branch is shown.",
                "All {count} messages of this branch are shown.",
              )
            : t("{unread} of {all} messages left to load …", { unread: unread.length, all: path.length })}
          <button type="button" onClick={() => window.print()} className="min-h-6 text-leaf underline">
            {t("Print")}
          </button>
          <PageLink to={{ conversation: conversation.id, leaf: leaf ?? undefined }} className="text-leaf underline">
            {t("Back to the conversation")}
          </PageLink>
        </p>
        {path.map((id, index) => (
          <MessageArticle
            key={id}
            id={id}
            next={path[index + 1]}
            place={index + 1}
            of={path.length}
            isTabbable={false}
            onFocus={stepNowhere}
          />
        ))}
      </div>
    </div>
  );
}

function stepNowhere(): void {}
