import { usePage } from "../page.ts";
import { useBegin } from "./use-begin.ts";

/** Begins a conversation and shows it. */
export function NewConversation() {
  const page = usePage();
  const begin = useBegin();
  return (
    <button
      type="button"
      onClick={() => page.told(begin())}
      className="rounded-md bg-leaf px-3 py-2 font-medium text-ground text-sm hover:opacity-90"
    >
      New conversation
    </button>
  );
}
