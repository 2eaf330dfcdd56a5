import { useEffect } from "react";
import { usePage, usePageState } from "../page.ts";
import { useConversation } from "./use-conversation.ts";
import { useShow } from "./use-view.ts";

/** Milliseconds in which a removal can be taken back with one click. */
const TIME = 10_000;

/** For a while after messages were removed: the way to bring them back (W12). */
export function UndoRemoval() {
  const conversation = useConversation();
  const page = usePage();
  const { connection, store } = page;
  const show = useShow();
  const removed = usePageState((state) => state.removed);
  useEffect(() => {
    if (!removed) return;
    const timer = setTimeout(() => store.setState({ removed: undefined }), TIME);
    return () => clearTimeout(timer);
  }, [removed, store]);
  if (removed?.conversation !== conversation.id) return null;
  const { message, count } = removed;
  const undo = async () => {
    store.setState({ removed: undefined });
    await connection.ask("message.restore", { conversation: conversation.id, message });
    show(conversation.leafBelow(message));
  };
  return (
    <p role="status" className="flex items-center gap-3 bg-sunken px-4 py-1 text-sm">
      {count === 1 ? "A message was removed." : `${count} messages were removed.`}
      <button type="button" onClick={() => page.told(undo())} className="min-h-6 text-leaf underline">
        Undo
      </button>
    </p>
  );
}
