import { type ConversationState, textOf } from "@banyan/core/conversation";
import { PageLink } from "../../parts/browser/navigation.tsx";
import { useConversation } from "../../parts/conversation/use-conversation.ts";
import { t } from "../../parts/phrases/phrases.ts";

/** The links from a sub-agent's conversation back to its parents; nothing in the main conversation. */
export function BreadCrumbs({ tree, leaf }: { readonly tree: ConversationState; readonly leaf: string | null }) {
  const { id: conversation } = useConversation();
  const launched = launchedBy(tree, leaf);
  if (launched.length === 0) return null;
  return (
    <nav aria-label={t("Sub-agents")} className="border-hair border-b px-4 py-1 text-sm">
      <ol className="flex flex-wrap gap-2">
        {launched.map(({ message, words }) => (
          <li key={message}>
            <PageLink to={{ conversation, leaf: message }} end focus={message} className="text-leaf underline">
              {words}
            </PageLink>{" "}
            <span aria-hidden="true">›</span>
          </li>
        ))}
        <li aria-current="page">{t("Sub-agent")}</li>
      </ol>
    </nav>
  );
}

function launchedBy(
  tree: ConversationState,
  leaf: string | null,
): { readonly message: string; readonly words: string }[] {
  const found: { message: string; words: string }[] = [];
  for (let at = leaf; at !== null; ) {
    const call = tree.messages.get(at)?.call;
    const message = call === undefined ? undefined : tree.calls.get(call);
    if (message === undefined) break;
    const launcher = tree.messages.get(message);
    found.unshift({
      message,
      words: launcher?.call === undefined ? t("Conversation") : textOf(launcher).slice(0, 30) || t("Sub-agent"),
    });
    at = message;
  }
  return found;
}
