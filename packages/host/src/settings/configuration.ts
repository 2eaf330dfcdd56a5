import { join, resolve } from "node:path";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type { EnvironmentVariables } from "@banyan/models";
import { expandHome } from "@banyan/tools/named-path";
import { literalGlob } from "../permissions/place.ts";
import { foreignTool } from "../permissions/tool-names.ts";
import { directories } from "../places/directories.ts";
import { type ProjectPaths, pathLeadsInto } from "../places/project.ts";
import { type ClaudeSettings, joinedHooks, readClaudeSettings } from "./claude-settings.ts";
import { environmentSettings, settingVariables, unknownVariables } from "./environment.ts";
import { provenRules } from "./example-calls.ts";
import { describePlace, type Misfit, SettingsError, type SettingsFault, unknownSettingName } from "./fault.ts";
import { readJsonFile } from "./json-file.ts";
import { formatKey, type KeyPath, valueAt } from "./key.ts";
import { knownNames, nodesAt, schemaNode } from "./known-names.ts";
import { type FileLayer, type LayerName, locateFault, readMcpLayer, readProjectLayer, readUserLayer } from "./layer.ts";
import { type Layer, mergeLayers, type SettingEntry, settingsOf } from "./merge.ts";
import { type Settings, settingsSchema } from "./schema.ts";
import { findUnknownNames } from "./unknown-names.ts";

/** Options of `readConfiguration`. */
export interface ConfigurationOptions {
  readonly env: EnvironmentVariables;
  readonly home: string;
  /** The paths of the project, if the project is trusted. */
  readonly project?: ProjectPaths | undefined;
  /** Settings that the command line sets. */
  readonly flags?: Settings;
}

const OPTIONS: OptionNames<ConfigurationOptions> = { env: true, home: true, project: true, flags: true };

/** The effective settings, with their sources and faults. */
export interface Configuration {
  readonly settings: Settings;
  /** Each setting with its source. */
  readonly entries: readonly SettingEntry[];
  /** The faults of all settings that Banyan ignores because of a fault. */
  readonly faults: readonly SettingsFault[];
}

/** The defaults of the host. */
const BUILT_IN: Settings = {
  approval: "ask",
  memory: { enabled: false },
  sandbox: { enabled: "auto" },
  theme: "auto",
};

/** Returns the path of the user's settings file. */
export function userSettingsFile({ env, home }: Pick<ConfigurationOptions, "env" | "home">): string {
  return join(directories(env, home).config, "settings.json");
}

/**
 * Reads and merges the settings, by rising precedence: built-in, user, project, environment, flags. Leaves out and
 * reports faulty settings. Throws a `SettingsError` for an unreadable restriction in the user's file, or a wrong
 * variable.
 * @example const { settings, faults } = readConfiguration({ env: process.env, home: homedir() });
 */
export function readConfiguration(options: ConfigurationOptions): Configuration {
  refuseUnknown("readConfiguration", options, OPTIONS);
  const { user, project } = readFiles(options);
  if (user.unsafe) throw new SettingsError(user.unsafe);
  const layers: Layer[] = [
    { name: "built-in", settings: BUILT_IN },
    { name: "user", settings: user.settings },
    { name: "project", settings: project.settings },
    { name: "environment", settings: environmentSettings(options.env) },
    { name: "flags", settings: options.flags ?? {} },
  ];
  const entries = mergeLayers(layers);
  const faults = [...user.faults, ...project.faults, ...unknownVariables(options.env)];
  return { settings: settingsOf(entries), entries, faults };
}

/** Lists the faults of all sources, also those that prevent a start. For unknown names, use `unknownNamesIn`. */
export function checkConfiguration(options: ConfigurationOptions): readonly SettingsFault[] {
  refuseUnknown("checkConfiguration", options, OPTIONS);
  const { user, project } = readFiles(options);
  return [...user.faults, ...project.faults, ...environmentFaults(options.env), ...unknownVariables(options.env)];
}

/** Lists unknown models, agent tools, folders and files in the settings of all sources, also overridden ones. */
export async function unknownNamesIn(
  options: ConfigurationOptions,
  workspace: string,
): Promise<readonly SettingsFault[]> {
  refuseUnknown("unknownNamesIn", options, OPTIONS);
  const { env, home, project: places, flags = {} } = options;
  const { user, project } = readFiles(options);
  const environment = environmentFaults(env).length > 0 ? {} : environmentSettings(env);
  const layers: Layer[] = [
    { name: "user", settings: user.settings },
    { name: "project", settings: project.settings },
    { name: "environment", settings: environment },
  ];
  const settings = settingsOf(mergeLayers([...layers, { name: "flags", settings: flags }]));
  const files: Partial<Record<LayerName, string>> = {
    user: userSettingsFile({ env, home }),
    ...(places && { project: places.settings }),
  };
  const faults = layers.flatMap((layer) =>
    mergeLayers([layer]).map(async (entry): Promise<SettingsFault[]> => {
      const misfits = await findUnknownNames(entry, { settings, env, home, workspace });
      return misfits.map((misfit) => layerFault(layer.name, files[layer.name], misfit));
    }),
  );
  return (await Promise.all(faults)).flat();
}

function layerFault(layer: LayerName, file: string | undefined, misfit: Misfit): SettingsFault {
  const { path, problem, advice } = misfit;
  const key = formatKey(path);
  const variable = settingVariables.find((known) => formatKey(known.path) === key);
  if (layer === "environment" && variable) return { source: variable.name, problem, advice };
  const json = file === undefined ? undefined : readJsonFile(file);
  if (file !== undefined && json?.state === "read") return locateFault(file, json.places, misfit);
  return { source: file ?? layer, key, problem, advice };
}

/** Returns an example for each rule and matcher of the readable files (S34), relative to a workspace. */
export function proveRules(options: ConfigurationOptions, workspace: string): ReturnType<typeof provenRules> {
  refuseUnknown("proveRules", options, OPTIONS);
  const { user, project } = readFiles(options);
  const layers: Layer[] = [user, project].map(({ settings: { permissions, hooks, mcpServers, agents } }, index) => ({
    name: index === 0 ? "user" : "project",
    settings: { permissions, hooks, mcpServers, agents },
  }));
  return provenRules(settingsOf(mergeLayers(layers)), workspace);
}

/**
 * Returns a setting, or a part of it, with its sources; undefined if not set.
 * @example
 * const configuration = readConfiguration({ env: process.env, home: homedir() });
 * console.log(settingAt(configuration, ["limits", "steps"])?.layers);
 */
export function settingAt({ settings, entries }: Configuration, path: KeyPath): SettingEntry | undefined {
  const value = valueAt(settings, path);
  if (value === undefined) return undefined;
  const shares = entries.filter((entry) => entry.path.every((part, at) => at >= path.length || part === path[at]));
  return { path, value, layers: [...new Set(shares.flatMap(({ layers }) => layers))] };
}

/** Returns a sentence about an unknown setting; undefined if the setting exists. */
export function unknownSetting(path: KeyPath): string | undefined {
  const schema = schemaNode(settingsSchema);
  const at = path.findIndex((_, index) => nodesAt(schema, path.slice(0, index + 1)).length === 0);
  if (at < 0) return undefined;
  const { problem, advice } = unknownSettingName(path.slice(0, at + 1), knownNames(settingsSchema, path.slice(0, at)));
  const around = formatKey(path.slice(0, at));
  return `${around === "" ? "" : `${around}: `}${problem}; ${advice}.`;
}

/** Returns a setting's position, such as `settings.json:3:5: keys`; only its name if the file does not contain it. */
export function settingPlace(file: string, path: KeyPath): string {
  const json = readJsonFile(file);
  const at = json.state === "read" ? json.places.value(path) : undefined;
  return at ? describePlace({ source: file, ...at, key: formatKey(path) }) : formatKey(path);
}

function readFiles({ env, home, project }: ConfigurationOptions): Record<"user" | "project", FileLayer> {
  const file = userSettingsFile({ env, home });
  const user = withPaths(readUserLayer(file), (path) => resolve(file, "..", expandHome(path, home)));
  if (!project) return { user, project: { settings: {}, faults: [], unsafe: undefined } };
  const { settings: theirFile, mcp, claude, root } = project;
  const own = withPaths(readProjectLayer(theirFile, file), (path) => resolve(root, path));
  const theirs = withFittingCompaction({ file, layer: user }, { file: theirFile, layer: own });
  const shared = joinedLayers(readMcpLayer(mcp), theirs, readClaudeSettings(claude), root);
  return { user, project: withoutStrangers(user, shared, project) };
}

function environmentFaults(env: EnvironmentVariables): SettingsFault[] {
  try {
    environmentSettings(env);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return [error.fault];
    throw error;
  }
}

/** A file's relative paths do not start at the working directory. */
function withPaths(layer: FileLayer, absolute: (path: string) => string): FileLayer {
  const { instructions, theme } = layer.settings;
  return {
    ...layer,
    settings: {
      ...layer.settings,
      ...(instructions && { instructions: instructions.map(absolute) }),
      ...(theme?.endsWith(".json") && { theme: absolute(theme) }),
    },
  };
}

/** The settings file overrides files that other programs share. Hooks and rules of all files are joined. */
function joinedLayers(shared: FileLayer, own: FileLayer, claude: ClaudeSettings, root: string): FileLayer {
  const permissions = withProjectRules(own.settings.permissions, claude.rules, root);
  const statusLine = own.settings.statusLine ?? claude.statusLine;
  const hooks = joinedHooks(own.settings.hooks, claude.hooks);
  const mcpServers = { ...shared.settings.mcpServers, ...own.settings.mcpServers };
  return {
    settings: {
      ...own.settings,
      ...(Object.keys(mcpServers).length > 0 ? { mcpServers } : {}),
      ...(Object.keys(hooks).length > 0 ? { hooks } : {}),
      ...(statusLine && { statusLine }),
      ...(permissions && { permissions }),
    },
    faults: [...shared.faults, ...own.faults, ...claude.faults],
    unsafe: undefined,
  };
}

function withProjectRules(
  own: Settings["permissions"],
  claude: ClaudeSettings["rules"],
  root: string,
): Settings["permissions"] {
  const lists = (["deny", "ask", "allow"] as const).flatMap((list) => {
    const rules = [...(own?.[list] ?? []), ...(list === "allow" ? [] : claude[list])];
    return rules.length > 0 ? [[list, rules.map((rule) => ruleFromRoot(rule, root))] as const] : [];
  });
  return lists.length > 0 ? Object.fromEntries(lists) : own;
}

/** In Claude Code, `Edit(/src/**)` starts at the folder of the settings: make the path absolute. */
function ruleFromRoot(rule: string, root: string): string {
  const [, name = "", path] = /^\s*(\w+)\s*\(\s*\/(?!\/)(.*)\)\s*$/s.exec(rule) ?? [];
  const isPath = foreignTool(name)?.pattern?.endsWith("path") === true;
  return isPath ? `${name}(/${literalGlob(root)}/${path})` : rule;
}

/** A project must not set files outside of it, or names that the user has already defined. */
function withoutStrangers(user: FileLayer, layer: FileLayer, { root, settings: file }: ProjectPaths): FileLayer {
  const faults = [...layer.faults];
  const instructions = layer.settings.instructions?.filter((path) => {
    const isInside = pathLeadsInto(root, path);
    if (!isInside) {
      const problem = `${JSON.stringify(path)} is not in the project`;
      faults.push({ source: file, key: "instructions", problem, advice: "a project can name only files of its own" });
    }
    return isInside;
  });
  for (const kind of ["agents", "mcpServers"] as const) {
    for (const name of Object.keys(layer.settings[kind] ?? {})) {
      if (!Object.hasOwn(user.settings[kind] ?? {}, name)) continue;
      const problem = `'${name}' is also a name in your own settings, so the project's entry is not used`;
      faults.push({ source: file, key: kind, problem, advice: "give one of them another name" });
    }
  }
  return { ...layer, settings: { ...layer.settings, ...(instructions && { instructions }) }, faults };
}

interface SourcedLayer {
  readonly file: string;
  readonly layer: FileLayer;
}

/** Removes a project's `compaction` that contradicts the user's. The fault names both files. */
function withFittingCompaction(user: SourcedLayer, { file, layer }: SourcedLayer): FileLayer {
  const { compaction, ...settings } = layer.settings;
  const values = { hint: 0, threshold: 1, ...user.layer.settings.compaction, ...compaction };
  if (compaction === undefined || values.hint < values.threshold) return layer;
  // The project sets one of the two: both from one file would be consistent.
  const [own, other] =
    compaction.hint === undefined ? (["threshold", "hint"] as const) : (["hint", "threshold"] as const);
  const json = readJsonFile(file);
  const fault = {
    source: file,
    ...(json.state === "read" ? json.places.value(["compaction", own]) : {}),
    key: `compaction.${own}`,
    problem: `found ${values[own]} with the ${other} ${values[other]} of ${user.file}`,
    advice: "expected a hint below the threshold, so the project's compaction is not used",
  };
  return { ...layer, settings, faults: [...layer.faults, fault] };
}
