import { useNavigate } from "@tanstack/react-router";
import { Button } from "../design/button.tsx";
import { usePage } from "../page.ts";
import { t } from "../phrases/phrases.ts";
import { useMay } from "../use-may.ts";

/** Begins a conversation and shows it. */
export function NewConversation() {
  const page = usePage();
  const begin = useBegin();
  if (!useMay()("conversation.create")) return null;
  return (
    <Button icon="new" onClick={() => page.told(begin())}>
      {t("New conversation")}
    </Button>
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
