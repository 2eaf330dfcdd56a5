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
    const problem = `'${name}' is not taken from a project`;
    return { path: [name], isName: true, problem, advice: `set it in ${userFile}, if you want it` };
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
    const misfits = schema
      ? misfitsOf(value, schema).map((misfit) => below(name, misfit))
      : [stranger(name) ?? []].flat();
    const found = misfits.map((misfit) => placed(file, json.places, misfit));
    faults.push(...found);
    const sound = schema && soundPart(name, value, misfits);
    if (sound !== undefined) settings.push([name, sound]);
    else if (PROTECTIVE.has(name) || nearest(name, PROTECTIVE).length > 0) unsafe ??= found[0];
  }
  return { settings: Object.fromEntries(settings) as Settings, faults, unsafe };
}

/**
 * The usable part of a setting: all of it, or, of a setting with names, the entries that are right; undefined when nothing
 * is.
 */
function soundPart(name: string, value: unknown, misfits: readonly Misfit[]): unknown {
  if (misfits.length === 0) return value;
  const wrong = new Set(misfits.map(({ path: [, thing] }) => thing));
  if (!NAMED.has(name) || !isPlainObject(value) || wrong.has(undefined)) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([thing]) => !wrong.has(thing)));
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
