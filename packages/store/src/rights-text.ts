import type { Rights } from "@banyan/core/stores";

/** What is damaged allows nothing: the person is asked again. */
export function rightsFrom(text: string): Rights {
  const { rules, calls } = (parsed(text) ?? {}) as Partial<Record<keyof Rights, unknown>>;
  return {
    rules: Array.isArray(rules) ? rules.filter((rule) => typeof rule === "string") : [],
    calls:
      typeof calls === "object" && calls !== null && !Array.isArray(calls)
        ? Object.fromEntries(Object.entries(calls).filter(([, digest]) => typeof digest === "string"))
        : {},
  };
}

/** What JSON says; nothing when it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Damaged: whoever reads it takes that for nothing.
    return undefined;
  }
}
