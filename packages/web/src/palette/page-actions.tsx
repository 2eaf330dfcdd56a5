import { useBegin } from "../conversations/new-conversation.tsx";
import { focusOn } from "../shell/focus-on.ts";
import { usePreference } from "../shell/preferences.ts";
import { useActions } from "./actions.tsx";

/** What can be done wherever the page stands. */
export function PageActions() {
  const begin = useBegin();
  const [, setTheme] = usePreference("theme");
  useActions([
    { name: "New conversation", keys: "Alt+N", slash: "clear", takes: "conversation.create", run: () => begin() },
    { name: "Search all conversations", keys: "Alt+F", run: () => focusOn("[aria-label='Search all conversations']") },
    { name: "Light theme", run: () => setTheme("light") },
    { name: "Dark theme", run: () => setTheme("dark") },
    { name: "Theme of the system", run: () => setTheme("system") },
  ]);
  return null;
}
