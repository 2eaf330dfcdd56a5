/** The scope in which the browser keeps a value: all tabs, or one tab, which has the value again after a reload. */
type Where = "browser" | "tab";

const storeOf = (where: Where): Storage => (where === "tab" ? sessionStorage : localStorage);

/** What the browser keeps for the page under a name; nothing when there is nothing, or none of ours. */
export function kept(name: string, where: Where = "browser"): unknown {
  try {
    return JSON.parse(storeOf(where).getItem(name) ?? "null") ?? undefined;
  } catch {
    // Whatever stands there is none of ours.
    return undefined;
  }
}

/** The names that begin so, of what the browser keeps. */
export function keptNames(beginning: string): readonly string[] {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(beginning));
  } catch {
    // Nothing may be kept.
    return [];
  }
}

/**
 * Keeps a value for the next time the page is loaded; `undefined` removes the value that was kept. Returns false if the browser has
 * no room or keeps nothing: then the page has the value until it is closed, and a value that was kept before is removed.
 */
export function keep(name: string, value: unknown, where: Where = "browser"): boolean {
  try {
    if (value === undefined) storeOf(where).removeItem(name);
    else storeOf(where).setItem(name, JSON.stringify(value));
    return true;
  } catch {
    if (value !== undefined) keep(name, undefined, where);
    return value === undefined;
  }
}
