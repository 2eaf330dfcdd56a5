import type { ConversationState, Message } from "@banyan/core/conversation";
import { focusOn, focusOnMessage } from "../parts/browser/focus-on.ts";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { usePage } from "../parts/page/page.ts";
import { t, tCount } from "../parts/phrases/phrases.ts";
import { InlineForm } from "./inline-form.tsx";

/** Hides a message and all messages below it, after stating their number (W12). */
export function RemoveMessage({ message, onClose }: { readonly message: Message; onClose(): void }) {
  const { id: conversation } = useConversation();
  const { connection, store } = usePage();
  const tree = useTree();
  if (!tree) return null;
  const { below, hidden } = countHiddenBelow(tree, message.id);
  const remove = async () => {
    await connection.ask("message.remove", { conversation, message: message.id });
    if (message.parentId === null) focusOn("#composer");
    else focusOnMessage(message.parentId);
    store.setState({ removed: { conversation, message: message.id, count: below + 1 } });
  };
  return (
    <InlineForm action={t("Remove")} onSubmit={remove} onClose={onClose}>
      <p>{whatGoes(below, hidden)}</p>
    </InlineForm>
  );
}

function whatGoes(below: number, hidden: number): string {
  if (below === 0) return t("Remove this message?");
  return hidden === 0
    ? tCount(below, "Remove this message and {count} below it?", "Remove this message and {count} below it?")
    : tCount(
        below,
        "Remove this message and {count} below it? Already hidden: {hidden}.",
        "Remove this message and {count} below it? Already hidden: {hidden}.",
        { hidden },
      );
}

function countHiddenBelow(
  tree: ConversationState,
  message: string,
): { readonly below: number; readonly hidden: number } {
  let below = 0;
  let hidden = 0;
  const open = [message];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const at = tree.messages.get(id);
    const places = [id, ...(at?.role === "assistant" ? at.calls.map((call) => call.id) : [])];
    for (const child of places.flatMap((place) => tree.children.get(place) ?? [])) {
      below++;
      if (tree.messages.get(child)?.removed) hidden++;
      open.push(child);
    }
  }
  return { below, hidden };
}
