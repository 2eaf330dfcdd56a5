import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { counted } from "@banyan/core/shown";
import {
  absentInLists,
  type ConfigurationOptions,
  changeSetting,
  changeSettingByText,
  checkConfiguration,
  describeFault,
  directories,
  formatKey,
  type KeyPath,
  parseKey,
  projectOf,
  proveRules,
  readConfiguration,
  readDefinitions,
  redactor,
  type Settings,
  SettingsError,
  settingAt,
  settingPlace,
  TrustRecord,
  telemetryNotices,
  unknownInAgents,
  unknownNamesIn,
  unknownSetting,
  userSettingsFile,
} from "@banyan/host";
import { listing } from "../output/listing.ts";
import { type ExitCode, exitCodes } from "../program/exit.ts";
import { UsageError } from "../program/problem.ts";
import { plainLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import type { ConfigArguments } from "./arguments.ts";
import { settingLines, withProjectTrust } from "./shown-settings.ts";

/** `banyan config`: shows or changes the settings for this directory. */
export function config(args: ConfigArguments): Promise<ExitCode> {
  return listing(async (write, warn) => {
    const place = { env: process.env, home: homedir() };
    switch (args.action) {
      case "get":
        return printSettings(withProjectTrust(place), args, write, warn);
      case "set":
      case "unset":
        return changeSettingsFile(place, args, write);
      case "path":
        return path(place, write);
      case "check":
        return check(place, write);
    }
  });
}

/** Sets or removes a setting in the user's or the project's file. The rest of the file is kept. */
function changeSettingsFile(
  place: ConfigurationOptions,
  args: Extract<ConfigArguments, { action: "set" | "unset" }>,
  write: (text: string) => void,
): void {
  const path = readSettingKey(args.key);
  const file = args.project ? projectOf(".").settings : userSettingsFile(place);
  const owner = args.project ? "project" : "user";
  if (args.action === "set") changeSettingByText(file, path, args.value, owner);
  else changeSetting(file, path, undefined, owner);
  write(`${formatKey(path)} is ${args.action === "set" ? "set" : "no longer set"} in ${file}.\n`);
}

/** Prints the faults in settings, agents, commands and skills, and an example call for each rule and matcher. */
async function check(place: ConfigurationOptions, write: (text: string) => void): Promise<ExitCode> {
  const project = projectOf(".");
  const definitions = readDefinitions(directories(place.env, place.home), project);
  const sources = { ...place, project };
  const names = await unknownNamesIn(sources, process.cwd());
  const lookup = { ...place, settings: settingsIn(sources), workspace: process.cwd() };
  const inAgents = await unknownInAgents(definitions.written, definitions.skills, lookup);
  const faults = [
    ...[...checkConfiguration(sources), ...names, ...definitions.faults, ...inAgents].map(describeFault),
    ...(await terminalFaults(place)),
  ];
  for (const fault of faults) write(`${plainLine(fault)}\n`);
  const { proven, notices } = proveRules(sources, process.cwd());
  for (const notice of [...notices, ...absentInLists(definitions.agents), ...(await telemetryNotices(place.env))])
    write(`${plainLine(notice)}\n`);
  for (const { key, text, example } of proven)
    write(`${plainLine(`${key}: ${text} matches ${example ?? "no known call. Change its pattern"}`)}\n`);
  const count = faults.length + proven.filter(({ example }) => example === undefined).length;
  write(count === 0 ? "The settings have no problems.\n" : `${counted(count, "problem")}.\n`);
  return count === 0 ? exitCodes.done : exitCodes.usage;
}

/** Faults in the terminal's key bindings and colours, as at startup. Projects set neither. */
async function terminalFaults(place: ConfigurationOptions): Promise<readonly string[]> {
  const { KeyBindings } = await import("../terminal/full/keys/key-bindings.ts");
  const { Colors } = await import("../terminal/full/theme/colors.ts");
  const file = userSettingsFile(place);
  const { keys, theme } = settingsIn(place);
  const said = (setting: "keys" | "theme") => (sentence: string) =>
    `${settingPlace(file, [setting])}${sentence.slice(setting.length)}`;
  return [
    ...new KeyBindings(keys).problems.map(said("keys")),
    ...(theme === undefined ? [] : new Colors(1, place.env).use(theme).map(said("theme"))),
  ];
}

/** The user's settings; empty if a file prevents the start, because that fault is reported anyway. */
function settingsIn(place: ConfigurationOptions): Settings {
  try {
    return readConfiguration(place).settings;
  } catch (error) {
    if (error instanceof SettingsError) return {};
    throw error;
  }
}

/** Prints effective settings and their layers. Secrets are redacted. */
function printSettings(
  options: ConfigurationOptions,
  { key, output }: Extract<ConfigArguments, { action: "get" }>,
  write: (text: string) => void,
  warn: (sentence: string) => void,
): void {
  const wanted = key === undefined ? undefined : readSettingKey(key);
  const configuration = readConfiguration(options);
  for (const fault of configuration.faults) warn(describeFault(fault));
  const one = wanted && settingAt(configuration, wanted);
  const entries = wanted ? (one ? [one] : []) : configuration.entries;
  const redact = redactor({ env: options.env });
  if (output === "json") {
    const found = entries.map(({ path, value, layers }) => ({ key: formatKey(path), value, layers }));
    write(`${redact(JSON.stringify(wanted ? (found[0] ?? null) : found, null, 2))}\n`);
  } else if (wanted && !one) write(`${formatKey(wanted)} is not set.\n`);
  else for (const line of settingLines(entries, redact)) write(`${line}\n`);
}

/** Prints the paths of settings and decisions, including missing files. */
function path(place: ConfigurationOptions, write: (text: string) => void): void {
  const project = projectOf(".");
  const trust = new TrustRecord(place);
  const { state } = trust.trustOf(".");
  const theirs = state === "nothing" || state === "trusted" ? "" : "not used: the project is not trusted";
  const rows = [
    ["user", userSettingsFile(place), ""],
    ["project", project.settings, theirs],
    ["project", project.mcp, theirs],
    ["trust", trust.file, ""],
  ];
  const lines = table(
    rows.map(([what = "", file = "", note = ""]) => [what, plainLine(file), existsSync(file) ? note : "not there"]),
  );
  for (const line of lines) write(`${line}\n`);
}

/** Throws a `UsageError` for an impossible name. */
function readSettingKey(text: string): KeyPath {
  const key = parseKey(text);
  if (!key) throw new UsageError(`'${text}' is not a setting. Write it like limits.steps or models["ollama/qwen3.5"].`);
  const problem = unknownSetting(key);
  if (problem !== undefined) throw new UsageError(problem);
  return key;
}
