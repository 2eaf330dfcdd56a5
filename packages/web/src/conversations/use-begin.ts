import { useNavigate } from "@tanstack/react-router";
import { usePage } from "../page.ts";

/** Begins a conversation and shows it. */
export function useBegin(): () => Promise<void> {
  const { connection } = usePage();
  const navigate = useNavigate();
  return async () => {
    const begun = await connection.ask("conversation.create", {});
    await navigate({ to: "/c/$conversation", params: begun });
  };
}
