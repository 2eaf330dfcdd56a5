import { isJsonRecord, parseJsonText } from "@banyan/core/shown";
import type { Rights } from "@banyan/core/stores";

/** Parses stored permissions. Returns no permissions for damaged text, so that the user is asked again. */
export function rightsFrom(text: string): Rights {
  const { rules, calls } = (parseJsonText(text) ?? {}) as Partial<Record<keyof Rights, unknown>>;
  return {
    rules: Array.isArray(rules) ? rules.filter((rule) => typeof rule === "string") : [],
    calls: isJsonRecord(calls)
      ? Object.fromEntries(
          Object.entries(calls).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
        )
      : {},
  };
}
