import { focusOn } from "../../parts/browser/focus-on.ts";
import { useActions } from "../../parts/page/actions.tsx";
import { usePreference } from "../../parts/page/preferences.ts";
import { t } from "../../parts/phrases/phrases.ts";
import { useBegin } from "../conversations/new-conversation.tsx";

export function PageActions() {
  const begin = useBegin();
  const [, setTheme] = usePreference("theme");
  useActions([
    { name: t("New conversation"), keys: "Alt+N", slash: "clear", takes: "conversation.create", run: () => begin() },
    {
      name: t("Search all conversations"),
      keys: "Alt+F",
      takes: "conversation.search",
      run: () => focusOn("#search"),
    },
    { name: t("Light theme"), run: () => setTheme("light") },
    { name: t("Dark theme"), run: () => setTheme("dark") },
    { name: t("System theme"), run: () => setTheme("system") },
  ]);
  return null;
}
