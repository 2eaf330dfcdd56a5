import { join } from "node:path";
import { type Directories, directories } from "./directories.ts";
import { readSettings, type Settings } from "./settings/index.ts";

/** The file of a user's settings. */
export function settingsFile(places: Directories): string {
  return join(places.config, "settings.json");
}

/** What a user has set, without anything else of a host. Throws `SettingsError`. */
export function userSettings({
  env,
  home,
}: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}): Settings {
  return readSettings(settingsFile(directories(env, home)));
}
