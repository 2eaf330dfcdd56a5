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

/** Keeps something for the next time the page is loaded; nothing in the place of what is kept no more. */
export function keep(name: string, value: unknown, where: Where = "browser"): void {
  try {
    if (value === undefined) storeOf(where).removeItem(name);
    else storeOf(where).setItem(name, JSON.stringify(value));
  } catch {
    // There is no room for it, or nothing may be kept: until it is closed, the page has it.
  }
}
