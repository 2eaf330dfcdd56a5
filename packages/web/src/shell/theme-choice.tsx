import { type Preferences, usePreference } from "./preferences.ts";

/** Light, dark, or as the system has it (W45). */
export function ThemeChoice() {
  const [theme, setTheme] = usePreference("theme");
  return (
    <label className="flex items-center gap-1 text-soft text-xs">
      Theme
      <select
        value={theme}
        onChange={({ target }) => setTheme(target.value as Preferences["theme"])}
        className="min-h-6 rounded border border-line bg-ground px-1 text-ink"
      >
        <option value="system">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
