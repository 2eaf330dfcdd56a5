import { useNavigate } from "@tanstack/react-router";
import { usePage } from "../page.ts";
import { usePreference } from "../shell/preferences.ts";
import { useActions } from "./actions.tsx";

/** What can be done wherever the page stands. */
export function PageActions() {
  const { connection } = usePage();
  const navigate = useNavigate();
  const [, setTheme] = usePreference("theme");
  const begin = async () => {
    const { conversation } = await connection.ask("conversation.create", {});
    await navigate({ to: "/c/$conversation", params: { conversation } });
  };
  useActions([
    { name: "New conversation", keys: "n", run: () => void begin() },
    { name: "Search all conversations", keys: "/", run: () => focusOn("[aria-label='Search all conversations']") },
    { name: "Light theme", run: () => setTheme("light") },
    { name: "Dark theme", run: () => setTheme("dark") },
    { name: "Theme of the system", run: () => setTheme("system") },
  ]);
  return null;
}

/** Puts the focus on what is shown under a selector, if it is. */
export function focusOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}
