/** The event for changes in this window; `storage` reports only those of other windows. */
const CHANGED = "banyan-kept";

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
 * Stores a value so that it survives reloads; `undefined` removes it. Returns false if the browser has no room or
 * forbids storage. The value then lasts until the page closes, and an older stored value is removed.
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

/** Stores a value for all windows, and informs the listeners. */
export function keepSharedValue(name: string, value: unknown): void {
  keepValue(name, value);
  window.dispatchEvent(new Event(CHANGED));
}

/** Calls a function after each change of a shared value. Returns a function that ends these calls. */
export function listenToStorage(listener: () => void): () => void {
  window.addEventListener("storage", listener);
  window.addEventListener(CHANGED, listener);
  return () => {
    window.removeEventListener("storage", listener);
    window.removeEventListener(CHANGED, listener);
  };
}
