import { useNavigate } from "@tanstack/react-router";
import { usePage } from "../page.ts";

/** Begins a conversation and shows it. */
export function NewConversation() {
  const { connection } = usePage();
  const navigate = useNavigate();
  const begin = async () => {
    const { conversation } = await connection.ask("conversation.create", {});
    await navigate({ to: "/c/$conversation", params: { conversation } });
  };
  return (
    <button
      type="button"
      onClick={() => void begin()}
      className="rounded-md bg-leaf px-3 py-2 font-medium text-ground text-sm hover:opacity-90"
    >
      New conversation
    </button>
  );
}
