import { hookEvents } from "../hooks/hook-event.ts";
import { formatKey, isPlainObject, type KeyPath, withValueAt } from "./key.ts";
import type { LayerName } from "./layer.ts";
import type { Settings } from "./schema.ts";

/** What a layer sets. */
export interface Layer {
  readonly name: LayerName;
  readonly settings: Settings;
}

/** A setting as it counts, and where that comes from. */
export interface Entry {
  readonly path: KeyPath;
  readonly value: unknown;
  /** The layer whose value it is; all layers that add to a list. */
  readonly layers: readonly LayerName[];
}

/** Lists to which every layer adds. Of every other list, and of every value, the layer that counts most has its own. */
const JOINED: ReadonlySet<string> = new Set([
  "permissions.deny",
  "permissions.ask",
  "permissions.allow",
  "instructions",
  ...hookEvents.map((event) => `hooks.${event}`),
]);

/** Named things: an object is taken as a whole, and a project does not change what the user gave a name to. */
const NAMED: ReadonlySet<string> = new Set(["agents", "acpAgents", "mcpServers"]);

/** What counts when several layers set something. The layers come in the order in which they count, the least first. */
export function mergeLayers(layers: readonly Layer[]): Entry[] {
  const merged = new Map<string, Entry>();
  for (const { name, settings } of layers) {
    for (const { path, value } of piecesOf(settings)) {
      const key = formatKey(path);
      const before = merged.get(key);
      merged.set(key, before ? joined(before, { path, value, layers: [name] }) : { path, value, layers: [name] });
    }
  }
  return [...merged.values()];
}

/** The entries as settings. */
export function settingsOf(entries: readonly Entry[]): Settings {
  return entries.reduce<unknown>((all, { path, value }) => withValueAt(all, path, value), {}) as Settings;
}

/** Settings cut into what is merged piece by piece: values, and in objects the values below their names. */
function piecesOf(settings: Settings): Pick<Entry, "path" | "value">[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    if (value === undefined || name === "$schema") return [];
    if (!isPlainObject(value)) return [{ path: [name], value }];
    return Object.entries(value).flatMap(([inner, each]) =>
      each === undefined ? [] : [{ path: [name, inner], value: each }],
    );
  });
}

function joined(before: Entry, after: Entry): Entry {
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
