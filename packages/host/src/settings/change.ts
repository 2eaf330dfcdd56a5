import { parseJsonText } from "@banyan/core/shown";
import { type Misfit, misfitsOf, SettingsError, type SettingsFault, unknownSettingName } from "./fault.ts";
import { type JsonFile, readJsonFile, replaceJsonFile } from "./json-file.ts";
import { formatKey, isPlainObject, type KeyPath, withValueAt } from "./key.ts";
import { locateFault, misfitBelow } from "./layer.ts";
import { projectShape } from "./project-schema.ts";
import { settingShape } from "./schema.ts";

/** The owner of a settings file. A project's file can set fewer settings than a user's. */
export type SettingsOwner = "user" | "project";

/**
 * Changes one setting in a file; `undefined` removes the setting. Creates a missing file. Throws a `SettingsError` for
 * a broken file or an invalid value, and then changes nothing.
 */
export function changeSetting(file: string, path: KeyPath, value: unknown, owner: SettingsOwner = "user"): void {
  changeFile(file, path, [value], owner);
}

/** Changes a setting to a typed value: the text as JSON if this is valid for the setting, or else the text itself. */
export function changeSettingByText(file: string, path: KeyPath, text: string, owner: SettingsOwner = "user"): void {
  const parsed = parseJsonText(text);
  changeFile(file, path, parsed === undefined ? [text] : [parsed, text], owner);
}

/** Sets the first valid value. */
function changeFile(file: string, path: KeyPath, values: readonly unknown[], owner: SettingsOwner): void {
  const json = readJsonFile(file);
  if (json.state === "faulty") throw new SettingsError(json.fault);
  const before = json.state === "absent" ? {} : json.value;
  if (!isPlainObject(before))
    throw new SettingsError({ source: file, problem: "found no object", advice: "expected an object with settings" });
  const tried = values.map((value) => {
    const after = withValueAt(before, path, value);
    return { after, misfit: misfitAt(after, path, owner) };
  });
  const fitting = tried.find(({ misfit }) => misfit === undefined);
  if (fitting) replaceJsonFile(file, fitting.after, json.state === "absent" ? "" : json.text);
  else if (tried[0]?.misfit) throw new SettingsError(faultOf(file, json, path, tried[0].misfit));
}

/** Faults of other settings in the file are no reason to refuse. */
function misfitAt(settings: unknown, [name]: KeyPath, owner: SettingsOwner): Misfit | undefined {
  const shape = owner === "project" ? projectShape : settingShape;
  const setting = String(name);
  const schema = Object.hasOwn(shape, setting) ? shape[setting as keyof typeof shape] : undefined;
  if (!schema) return unknownSettingName([setting], Object.keys(shape));
  const value = isPlainObject(settings) ? settings[setting] : undefined;
  const [misfit] = misfitsOf(value, schema);
  return misfit && misfitBelow(setting, misfit);
}

/** Only a fault of an old value has a position in the file. */
function faultOf(file: string, json: JsonFile, path: KeyPath, misfit: Misfit): SettingsFault {
  const isNew = path.every((part, index) => part === misfit.path[index]);
  if (!isNew && json.state === "read") return locateFault(file, json.places, misfit);
  const key = formatKey(misfit.isName ? misfit.path.slice(0, -1) : misfit.path);
  return { source: file, ...(key && { key }), problem: misfit.problem, advice: misfit.advice };
}
