import { hookEvents } from "../hooks/hook-event.ts";
import { formatKey, isPlainObject, type KeyPath, withValueAt } from "./key.ts";
import type { LayerName } from "./layer.ts";
import type { Settings } from "./schema.ts";

/** The settings of one source. */
export interface Layer {
  readonly name: LayerName;
  readonly settings: Settings;
}

/** An effective setting and its source. */
export interface SettingEntry {
  readonly path: KeyPath;
  readonly value: unknown;
  /** The source of the value; for joined lists, all sources that add to it. */
  readonly layers: readonly LayerName[];
}

/** Lists that all sources extend. Other values come from the source with the highest precedence. */
const JOINED: ReadonlySet<string> = new Set([
  "permissions.deny",
  "permissions.ask",
  "permissions.allow",
  "instructions",
  ...hookEvents.map((event) => `hooks.${event}`),
]);

/** Each named object is replaced as a whole, and a project cannot change the user's. */
const NAMED: ReadonlySet<string> = new Set(["agents", "acpAgents", "mcpServers"]);

/** Merges settings of several sources, given by rising precedence. */
export function mergeLayers(layers: readonly Layer[]): SettingEntry[] {
  const merged = new Map<string, SettingEntry>();
  for (const { name, settings } of layers) {
    for (const { path, value } of settingPieces(settings)) {
      const key = formatKey(path);
      const before = merged.get(key);
      merged.set(key, before ? mergeEntries(before, { path, value, layers: [name] }) : { path, value, layers: [name] });
    }
  }
  return [...merged.values()];
}

/** Converts entries to settings. */
export function settingsOf(entries: readonly SettingEntry[]): Settings {
  return entries.reduce<unknown>((all, { path, value }) => withValueAt(all, path, value), {}) as Settings;
}

function settingPieces(settings: Settings): Pick<SettingEntry, "path" | "value">[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    if (value === undefined || name === "$schema") return [];
    if (!isPlainObject(value)) return [{ path: [name], value }];
    return Object.entries(value).flatMap(([inner, each]) =>
      each === undefined ? [] : [{ path: [name, inner], value: each }],
    );
  });
}

function mergeEntries(before: SettingEntry, after: SettingEntry): SettingEntry {
  const isProject = after.layers.includes("project");
  const [name] = after.path;
  if (JOINED.has(formatKey(after.path)))
    return {
      ...after,
      value: [...(before.value as unknown[]), ...(after.value as unknown[])],
      layers: [...before.layers, ...after.layers],
    };
  if (isProject && name === "limits") return Number(after.value) < Number(before.value) ? after : before;
  if (isProject && NAMED.has(String(name))) return before;
  return after;
}
