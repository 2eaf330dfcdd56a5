import {
  type Configuration,
  type ConfigurationOptions,
  formatKey,
  type ProjectPaths,
  projectOf,
  type SettingEntry,
  TrustRecord,
  userSettingsFile,
} from "@banyan/host";
import { plainLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";

/** Returns options that include the project's settings only if the user trusts the project. */
export function withProjectTrust(place: ConfigurationOptions): ConfigurationOptions {
  const { state } = new TrustRecord(place).trustOf(".");
  return state === "trusted" ? { ...place, project: projectOf(".") } : place;
}

/** Formats settings with the files that set them, one line each. Secrets are redacted. */
export function settingLines(
  entries: readonly SettingEntry[],
  redact: (text: string) => string,
  width?: number,
): string[] {
  const rows = entries.map(({ path, value, layers }) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return [plainLine(formatKey(path)), layers.join(", "), plainLine(redact(text))];
  });
  return table(rows, undefined, width);
}

/** Describes each source of settings in use, one sentence each. Leaves out the defaults. */
export function describeLayers(
  { entries }: Pick<Configuration, "entries">,
  place: ConfigurationOptions,
  project: ProjectPaths | undefined,
): string[] {
  const used = new Set(entries.flatMap(({ layers }) => layers));
  return [
    ...(used.has("user") ? [`user: ${plainLine(userSettingsFile(place))}`] : []),
    ...(used.has("project") && project ? [`project: ${plainLine(project.settings)}, ${plainLine(project.mcp)}`] : []),
    ...(used.has("environment") ? ["environment: variables that begin with BANYAN_"] : []),
    ...(used.has("flags") ? ["flags: what the program was started with"] : []),
  ];
}
