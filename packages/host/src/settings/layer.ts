import { nearest } from "@banyan/core/shown";
import type { z } from "zod";
import { type Misfit, misfitsOf, type SettingsFault, unknownSettingName } from "./fault.ts";
import { readJsonFile } from "./json-file.ts";
import type { JsonPlaces } from "./json-text.ts";
import { formatKey, isPlainObject } from "./key.ts";
import { projectShape } from "./project-schema.ts";
import { type SettingName, type Settings, settingShape } from "./schema.ts";

/** The sources of settings, by rising precedence. */
export type LayerName = "built-in" | "user" | "project" | "environment" | "flags";

/** The usable settings of one file, and its faults. */
export interface FileLayer {
  /** A setting with a fault is left out as a whole. Of agents and MCP servers, only the faulty entries are left out. */
  readonly settings: Settings;
  readonly faults: readonly SettingsFault[];
  /** A restriction that could not be read. Without it, calls that the file forbids could be allowed. */
  readonly unsafe: SettingsFault | undefined;
}

/** Settings that restrict the agent. An unknown name that is similar may be a misspelt restriction. */
const PROTECTIVE: ReadonlySet<string> = new Set(["approval", "permissions", "sandbox", "limits", "memory"]);

/** Settings with lists of rules or hooks: a faulty entry leaves the others of its file in effect. */
const RULES: ReadonlySet<string> = new Set(["permissions", "hooks"]);

/** Settings with named entries: a faulty entry leaves the others in effect. */
const NAMED: ReadonlySet<string> = new Set(["agents", "mcpServers"]);

/** Reads the user's settings file. A missing file gives no settings. Never throws. */
export function readUserLayer(file: string): FileLayer {
  return readLayer(file, settingShape, (name) => unknownSettingName([name], Object.keys(settingShape)));
}

/** Reads a project's settings file, limited to what projects may set. `userFile` is for advice. Never throws. */
export function readProjectLayer(file: string, userFile: string): FileLayer {
  return readLayer(file, projectShape, (name) => {
    if (!Object.hasOwn(settingShape, name)) return unknownSettingName([name], Object.keys(projectShape));
    const problem = `'${name}' has no effect in a project`;
    return { path: [name], isName: true, problem, advice: `set it in ${userFile} if you want it` };
  });
}

/** Reads one setting of a file and ignores the others. Never throws. */
export function readOneSetting(file: string, name: SettingName): FileLayer {
  return readLayer(file, { [name]: settingShape[name] }, () => undefined);
}

/** Reads a project's `.mcp.json`, a format shared with other programs. Never throws. */
export function readMcpLayer(file: string): FileLayer {
  const layer = readOneSetting(file, "mcpServers");
  const json = readJsonFile(file);
  if (json.state !== "read") return layer;
  if (isPlainObject(json.value) && ("mcpServers" in json.value || Object.keys(json.value).length === 0)) return layer;
  const problem = "it has no 'mcpServers'";
  return { ...layer, faults: [{ source: file, problem, advice: 'expected {"mcpServers":{"name":{...}}}' }] };
}

/** `stranger` describes an unknown name, or returns undefined to ignore the name. */
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
    const found = misfits.map((misfit) => locateFault(file, json.places, misfit));
    faults.push(...found);
    if (sound !== undefined) settings.push([name, sound]);
    if (isUnsafe(name, misfits, sound === undefined)) unsafe ??= found[0];
  }
  return { settings: Object.fromEntries(settings) as Settings, faults, unsafe };
}

function readSound(
  name: string,
  value: unknown,
  schema: z.ZodType,
): { readonly sound?: unknown; readonly misfits: readonly Misfit[] } {
  const misfits = misfitsOf(value, schema).map((misfit) => misfitBelow(name, misfit));
  const sound = soundPart(name, value, misfits);
  if (misfits.length === 0 || sound === undefined || !RULES.has(name)) return { sound, misfits };
  // Some checks only run on values of the right form.
  const rest = misfitsOf(sound, schema).map((misfit) => misfitBelow(name, misfit));
  return { sound: soundPart(name, sound, rest), misfits: [...misfits, ...rest] };
}

/** True if ignoring the fault could allow what the file forbids, or makes a rule ineffective (S34). */
function isUnsafe(name: string, misfits: readonly Misfit[], isLost: boolean): boolean {
  if (misfits.length === 0) return false;
  if (RULES.has(name) || (name === "agents" && misfits.some(({ path }) => path[2] === "tools" && path.length > 3)))
    return true;
  return isLost && (PROTECTIVE.has(name) || nearest(name, PROTECTIVE).length > 0);
}

/** The usable part of a setting: valid named entries, or valid rules and hooks. Undefined if nothing is usable. */
function soundPart(name: string, value: unknown, misfits: readonly Misfit[]): unknown {
  if (misfits.length === 0) return value;
  if (RULES.has(name)) return soundLists(value, misfits);
  const wrong = new Set(misfits.map(({ path: [, thing] }) => thing));
  if (!NAMED.has(name) || !isPlainObject(value) || wrong.has(undefined)) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([thing]) => !wrong.has(thing)));
}

/** If any rule is faulty, the `allow` list is dropped. */
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

/** Prefixes the path of a fault with the setting's name. */
export function misfitBelow(name: string, misfit: Misfit): Misfit {
  return { ...misfit, path: [name, ...misfit.path] };
}

/** Adds a position in the file to a fault: that of the faulty value, or of the nearest value around it. */
export function locateFault(
  file: string,
  places: JsonPlaces,
  { path, isName, problem, advice }: Misfit,
): SettingsFault {
  const around = Array.from(path, (_, index) => path.slice(0, path.length - index));
  const at = isName
    ? places.name(path)
    : around.map((way) => places.value(way)).find((position) => position !== undefined);
  const key = formatKey(isName ? path.slice(0, -1) : path);
  return { source: file, ...at, ...(key === "" ? {} : { key }), problem, advice };
}
