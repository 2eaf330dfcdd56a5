import { usePageState } from "../page.ts";
import { beginningOf } from "../tree/words.ts";
import { useConversation, useTree } from "./use-conversation.ts";

/** What the conversation in view is called: its title, else how it begins; nothing before something was said. */
export function useTitle(): string | undefined {
  const conversation = useConversation();
  const tree = useTree();
  const listed = usePageState(({ conversations }) => conversations?.find(({ id }) => id === conversation.id)?.title);
  const root = tree?.children.get(null)?.[0];
  // One that was removed is in no list.
  return tree?.title ?? (listed || (tree && root && beginningOf(conversation, tree, root)));
}
