import { nearest } from "@banyan/core/shown";
import type { z } from "zod";
import { type Misfit, misfitsOf, type SettingsFault, unknownName } from "./fault.ts";
import { readJsonFile } from "./json-file.ts";
import type { JsonPlaces } from "./json-text.ts";
import { formatKey, isPlainObject } from "./key.ts";
import { projectShape } from "./project-schema.ts";
import { type SettingName, type Settings, settingShape } from "./schema.ts";

/** Where settings come from, the ones that count least first. */
export type LayerName = "built-in" | "user" | "project" | "environment" | "flags";

/** What one file sets, as far as it can be used. */
export interface FileLayer {
  /** What is right. A setting with a fault in it is left out as a whole, but of agents and MCP servers only those with one. */
  readonly settings: Settings;
  readonly faults: readonly SettingsFault[];
  /**
   * Something that holds back what the agent may do could not be read: going on without it could allow what the file
   * forbids.
   */
  readonly unsafe: SettingsFault | undefined;
}

/** The settings that hold something back. A name that is almost one of them may be meant for it. */
const PROTECTIVE: ReadonlySet<string> = new Set(["approval", "permissions", "sandbox", "limits", "memory"]);

/** Settings with lists of rules or hooks: one that is wrong leaves the others of its file. */
const RULES: ReadonlySet<string> = new Set(["permissions", "hooks"]);

/** Settings that hold things by their names: one that is wrong leaves the others. */
const NAMED: ReadonlySet<string> = new Set(["agents", "mcpServers"]);

/** What the user's file sets; nothing when there is no file. Throws nothing. */
export function readUserLayer(file: string): FileLayer {
  return readLayer(file, settingShape, (name) => unknownName([name], Object.keys(settingShape)));
}

/** What a project's file sets, of what a project may set. `userFile` is named to whoever set more. Throws nothing. */
export function readProjectLayer(file: string, userFile: string): FileLayer {
  return readLayer(file, projectShape, (name) => {
    if (!Object.hasOwn(settingShape, name)) return unknownName([name], Object.keys(projectShape));
    const problem = `'${name}' has no effect in a project`;
    return { path: [name], isName: true, problem, advice: `set it in ${userFile} if you want it` };
  });
}

/** What a file sets of one setting, whatever else it holds. Throws nothing. */
export function readOneSetting(file: string, name: SettingName): FileLayer {
  return readLayer(file, { [name]: settingShape[name] }, () => undefined);
}

/** What a project's `.mcp.json` sets, as other programs read it too. Throws nothing. */
export function readMcpLayer(file: string): FileLayer {
  const layer = readOneSetting(file, "mcpServers");
  const json = readJsonFile(file);
  if (json.state !== "read") return layer;
  if (isPlainObject(json.value) && ("mcpServers" in json.value || Object.keys(json.value).length === 0)) return layer;
  const problem = "it has no 'mcpServers'";
  return { ...layer, faults: [{ source: file, problem, advice: 'expected {"mcpServers":{"name":{...}}}' }] };
}

/** `stranger` says what is wrong with a name that the shape does not have; nothing, when it is passed over. */
function readLayer(
  file: string,
  shape: Readonly<Record<string, z.ZodType>>,
  stranger: (name: string) => Misfit | undefined,
): FileLayer {
  const json = readJsonFile(file);
  if (json.state === "absent") return { settings: {}, faults: [], unsafe: undefined };
  if (json.state === "faulty") return { settings: {}, faults: [json.fault], unsafe: json.fault };
  if (!isPlainObject(json.value)) {
    const problem = `found ${JSON.stringify(json.value).slice(0, 80)}`;
    const fault = { source: file, problem, advice: "expected an object with settings" };
    return { settings: {}, faults: [fault], unsafe: fault };
  }
  const settings: [string, unknown][] = [];
  const faults: SettingsFault[] = [];
  let unsafe: SettingsFault | undefined;
  for (const [name, value] of Object.entries(json.value)) {
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined;
    const { sound, misfits } = schema ? readSound(name, value, schema) : { misfits: [stranger(name) ?? []].flat() };
    const found = misfits.map((misfit) => placed(file, json.places, misfit));
    faults.push(...found);
    if (sound !== undefined) settings.push([name, sound]);
    if (isUnsafe(name, misfits, sound === undefined)) unsafe ??= found[0];
  }
  return { settings: Object.fromEntries(settings) as Settings, faults, unsafe };
}

/** The usable part of a setting, and what is wrong with the rest. */
function readSound(
  name: string,
  value: unknown,
  schema: z.ZodType,
): { readonly sound?: unknown; readonly misfits: readonly Misfit[] } {
  const misfits = misfitsOf(value, schema).map((misfit) => below(name, misfit));
  const sound = soundPart(name, value, misfits);
  if (misfits.length === 0 || sound === undefined || !RULES.has(name)) return { sound, misfits };
  // Some checks are made only of what has the right form.
  const rest = misfitsOf(sound, schema).map((misfit) => below(name, misfit));
  return { sound: soundPart(name, sound, rest), misfits: [...misfits, ...rest] };
}

/** Whether to go on without what is wrong could allow what the file forbids, or leaves a rule without effect (S34). */
function isUnsafe(name: string, misfits: readonly Misfit[], isLost: boolean): boolean {
  if (misfits.length === 0) return false;
  if (RULES.has(name) || (name === "agents" && misfits.some(({ path }) => path[2] === "tools" && path.length > 3)))
    return true;
  return isLost && (PROTECTIVE.has(name) || nearest(name, PROTECTIVE).length > 0);
}

/**
 * The usable part of a setting: all of it, or, of a setting with names, the entries that are right, and of lists of rules and
 * hooks, what is right in them; undefined when nothing is.
 */
function soundPart(name: string, value: unknown, misfits: readonly Misfit[]): unknown {
  if (misfits.length === 0) return value;
  if (RULES.has(name)) return soundLists(value, misfits);
  const wrong = new Set(misfits.map(({ path: [, thing] }) => thing));
  if (!NAMED.has(name) || !isPlainObject(value) || wrong.has(undefined)) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([thing]) => !wrong.has(thing)));
}

/** The lists of a setting without the entries, or the lists, that are wrong. Rules with a fault among them allow nothing. */
function soundLists(value: unknown, misfits: readonly Misfit[]): unknown {
  if (!isPlainObject(value) || misfits.some(({ path }) => path.length < 2)) return undefined;
  const lists = Object.entries(value).flatMap(([list, entries]): [string, unknown][] => {
    if (list === "allow") return [];
    const here = misfits.filter(({ path }) => path[1] === list);
    if (here.length === 0) return [[list, entries]];
    if (!Array.isArray(entries) || here.some(({ path }) => path.length < 3)) return [];
    const rest = entries.filter((_, index) => !here.some(({ path }) => path[2] === index));
    return rest.length > 0 ? [[list, rest]] : [];
  });
  return lists.length > 0 ? Object.fromEntries(lists) : undefined;
}

/** A fault of a setting, seen from the top of the settings. */
export function below(name: string, misfit: Misfit): Misfit {
  return { ...misfit, path: [name, ...misfit.path] };
}

/** A fault of a value in a file, with its place there: that of the nearest thing around it which does stand there. */
export function placed(file: string, places: JsonPlaces, { path, isName, problem, advice }: Misfit): SettingsFault {
  const around = Array.from(path, (_, index) => path.slice(0, path.length - index));
  const at = isName
    ? places.name(path)
    : around.map((way) => places.value(way)).find((position) => position !== undefined);
  const key = formatKey(isName ? path.slice(0, -1) : path);
  return { source: file, ...at, ...(key === "" ? {} : { key }), problem, advice };
}
