import type { Rights } from "@banyan/core/stores";

/** Parses stored permissions. Returns no permissions for damaged text, so that the user is asked again. */
export function rightsFrom(text: string): Rights {
  const { rules, calls } = (parseJsonOrNothing(text) ?? {}) as Partial<Record<keyof Rights, unknown>>;
  return {
    rules: Array.isArray(rules) ? rules.filter((rule) => typeof rule === "string") : [],
    calls:
      typeof calls === "object" && calls !== null && !Array.isArray(calls)
        ? Object.fromEntries(Object.entries(calls).filter(([, digest]) => typeof digest === "string"))
        : {},
  };
}

/** Parses JSON. Returns `undefined` for invalid JSON. */
export function parseJsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
