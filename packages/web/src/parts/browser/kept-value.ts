type StorageScope = "browser" | "tab";

const storeOf = (where: StorageScope): Storage => (where === "tab" ? sessionStorage : localStorage);

/** Returns a value that `keepValue` stored in this browser; `undefined` if there is none or it is invalid. */
export function keptValue(name: string, where: StorageScope = "browser"): unknown {
  try {
    return JSON.parse(storeOf(where).getItem(name) ?? "null") ?? undefined;
  } catch {
    // Invalid JSON is not ours.
    return undefined;
  }
}

/** Returns the names of stored values that have a prefix. */
export function keptNames(beginning: string): readonly string[] {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(beginning));
  } catch {
    // The browser forbids storage.
    return [];
  }
}

/**
 * Stores a value so that it survives reloads; `undefined` removes the stored value. Returns false if the browser has no
 * room or forbids storage: the value then lasts until the page closes, and an older stored value is removed.
 */
export function keepValue(name: string, value: unknown, where: StorageScope = "browser"): boolean {
  try {
    if (value === undefined) storeOf(where).removeItem(name);
    else storeOf(where).setItem(name, JSON.stringify(value));
    return true;
  } catch {
    if (value !== undefined) keepValue(name, undefined, where);
    return value === undefined;
  }
}
