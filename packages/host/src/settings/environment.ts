import { nearest } from "@banyan/core/shown";
import type { EnvironmentVariables } from "@banyan/models";
import { SettingsError, type SettingsFault } from "./fault.ts";
import { type KeyPath, parseKey, withValueAt } from "./key.ts";
import { numberSettings } from "./number-settings.ts";
import { type SettingName, type Settings, settingShape } from "./schema.ts";

/** An environment variable that sets a setting. */
export interface SettingVariable {
  readonly name: string;
  readonly path: KeyPath & readonly [SettingName, ...PropertyKey[]];
  /** Invalid text stays a text, so that the schema reports it. */
  read(text: string): unknown;
}

const text = (value: string): unknown => value;
const number = (value: string): unknown => (/^[+-]?(\d+\.?\d*|\.\d+)$/.test(value) ? Number(value) : value);
const yesOrNo = (value: string): unknown => {
  if (/^(1|true|yes|on)$/i.test(value)) return true;
  return /^(0|false|no|off)$/i.test(value) ? false : value;
};

/** All variables that set a setting. An empty variable has no effect. */
export const settingVariables: readonly SettingVariable[] = [
  { name: "BANYAN_MODEL", path: ["model"], read: text },
  { name: "BANYAN_TITLE_MODEL", path: ["titleModel"], read: text },
  { name: "BANYAN_APPROVAL", path: ["approval"], read: text },
  { name: "BANYAN_UNCONFINED", path: ["unconfined"], read: yesOrNo },
  ...Object.entries(numberSettings).flatMap(([setting, { variables = [] }]) =>
    variables.map((name) => ({ name, path: parseKey(setting) as SettingVariable["path"], read: number })),
  ),
  { name: "BANYAN_MEMORY", path: ["memory", "enabled"], read: yesOrNo },
  { name: "BANYAN_SANDBOX", path: ["sandbox", "enabled"], read: text },
  { name: "BANYAN_THEME", path: ["theme"], read: text },
];

/** Variables of Banyan that are not settings. */
const OTHER_VARIABLES: readonly string[] = [
  ...["BANYAN_HOME", "BANYAN_NO_DISCOVERY", "BANYAN_STORE", "BANYAN_RUNS", "BANYAN_TOKEN", "BANYAN_GUEST_TOKEN"],
  // For tests with recordings.
  "BANYAN_RECORD",
  // Banyan sets these for its child processes, which may be Banyan too.
  ...["BANYAN_PROCESSES", "BANYAN_PROJECT_DIR"],
  ...["BANYAN_IN_SANDBOX", "BANYAN_SANDBOX_WORDS"],
];

/** Returns a fault for each unknown variable whose name begins with `BANYAN_`. */
export function unknownVariables(env: EnvironmentVariables): SettingsFault[] {
  const known = [...settingVariables.map(({ name }) => name), ...OTHER_VARIABLES];
  const unknown = Object.keys(env).filter((name) => name.startsWith("BANYAN_") && !known.includes(name));
  return unknown.map((source) => {
    const near = nearest(
      source.slice(PREFIX.length),
      known.map((name) => name.slice(PREFIX.length)),
      2,
    );
    const advice = near.length > 0 ? `did you mean ${near.map((name) => PREFIX + name).join(" or ")}?` : NONE_NEAR;
    return { source, problem: "Banyan does not use a variable of this name", advice };
  });
}

const PREFIX = "BANYAN_";
const NONE_NEAR = "docs/configuration.md lists the variables";

/** Reads the settings in environment variables. Throws a `SettingsError` for a faulty variable. */
export function environmentSettings(env: EnvironmentVariables): Settings {
  let settings: Settings = {};
  for (const { name, path, read } of settingVariables) {
    const written = env[name]?.trim();
    if (!written) continue;
    const [setting] = path;
    const alone = withValueAt({}, path, read(written)) as Settings;
    const issue = settingShape[setting].safeParse(alone[setting]).error?.issues[0];
    if (issue)
      throw new SettingsError({
        source: name,
        problem: `found ${JSON.stringify(written)}`,
        advice: `expected ${issue.message}`,
      });
    settings = withValueAt(settings, path, read(written)) as Settings;
  }
  return settings;
}
