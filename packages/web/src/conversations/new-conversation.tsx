import { useNavigate } from "@tanstack/react-router";
import { usePage } from "../page.ts";
import { useMay } from "../use-may.ts";

/** Begins a conversation and shows it. */
export function NewConversation() {
  const page = usePage();
  const begin = useBegin();
  if (!useMay()("conversation.create")) return null;
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

/** Begins a conversation and shows it. */
export function useBegin(): () => Promise<void> {
  const { connection } = usePage();
  const navigate = useNavigate();
  return async () => {
    const begun = await connection.ask("conversation.create", {});
    await navigate({ to: "/c/$conversation", params: begun });
  };
}
