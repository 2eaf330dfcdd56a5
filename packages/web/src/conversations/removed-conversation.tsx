import { Button } from "../design/button.tsx";
import { usePage, usePageState } from "../page.ts";

/** For a while after a conversation was removed: the way back (W55). */
export function RemovedConversation() {
  const page = usePage();
  const leaving = usePageState((state) => state.leaving);
  return (
    <div role="status">
      {leaving && (
        <p className="mx-2 mb-2 flex items-center gap-2 rounded-md bg-sunken px-3 py-1.5 text-sm">
          <span className="min-w-0 flex-1 truncate">Removed: {leaving.title}</span>
          <Button isSmall look="quiet" onClick={() => page.removal.undo()}>
            Undo
          </Button>
        </p>
      )}
    </div>
  );
}
