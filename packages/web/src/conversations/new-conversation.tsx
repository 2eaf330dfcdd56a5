import { Button } from "../design/button.tsx";
import { usePage } from "../page.ts";
import { t } from "../phrases/phrases.ts";
import { go } from "../shell/navigation.tsx";
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
  return async () => {
    const { conversation } = await connection.ask("conversation.create", {});
    go({ conversation });
  };
}
