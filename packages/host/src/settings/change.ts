import { type Misfit, misfitsOf, SettingsError, type SettingsFault, unknownName } from "./fault.ts";
import { type JsonFile, readJsonFile, replaceJsonFile } from "./json-file.ts";
import { formatKey, isPlainObject, type KeyPath, withValueAt } from "./key.ts";
import { below, placed } from "./layer.ts";
import { projectShape } from "./project-schema.ts";
import { settingShape } from "./schema.ts";

/** Whose file is changed: a project can set less. */
export type Owner = "user" | "project";

/**
 * Changes one setting in a file, which is made where there is none, and keeps everything else; `undefined` takes the
 * setting away. Throws a `SettingsError` and leaves the file as it is when it is broken, or when the change is not valid.
 */
export function changeSetting(file: string, path: KeyPath, value: unknown, owner: Owner = "user"): void {
  change(file, path, [value], owner);
}

/** The same with a value as a person writes it: JSON where that fits the setting, else the text itself. */
export function changeSettingByText(file: string, path: KeyPath, text: string, owner: Owner = "user"): void {
  change(file, path, [...jsonIn(text), text], owner);
}

/** Of several values, sets the first that fits. */
function change(file: string, path: KeyPath, values: readonly unknown[], owner: Owner): void {
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

/** What is wrong with the setting that a change is about. Others in the file may be wrong too: that is no reason to refuse. */
function misfitAt(settings: unknown, [name]: KeyPath, owner: Owner): Misfit | undefined {
  const shape = owner === "project" ? projectShape : settingShape;
  const setting = String(name);
  const schema = Object.hasOwn(shape, setting) ? shape[setting as keyof typeof shape] : undefined;
  if (!schema) return unknownName([setting], Object.keys(shape));
  const value = isPlainObject(settings) ? settings[setting] : undefined;
  const [misfit] = misfitsOf(value, schema);
  return misfit && below(setting, misfit);
}

/** What was there before has a place in the file; what was to be set has none. */
function faultOf(file: string, json: JsonFile, path: KeyPath, misfit: Misfit): SettingsFault {
  const isNew = path.every((part, index) => part === misfit.path[index]);
  if (!isNew && json.state === "read") return placed(file, json.places, misfit);
  const key = formatKey(misfit.isName ? misfit.path.slice(0, -1) : misfit.path);
  return { source: file, ...(key && { key }), problem: misfit.problem, advice: misfit.advice };
}

function jsonIn(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    // It is a text then.
    return [];
  }
}
