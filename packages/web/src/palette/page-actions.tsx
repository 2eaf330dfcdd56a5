import { useBegin } from "../conversations/new-conversation.tsx";
import { t } from "../phrases/phrases.ts";
import { focusOn } from "../shell/focus-on.ts";
import { usePreference } from "../shell/preferences.ts";
import { useActions } from "./actions.tsx";

/** The actions that are available everywhere. */
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
