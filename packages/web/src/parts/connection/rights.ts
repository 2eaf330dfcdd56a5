import type { Right } from "@banyan/protocol";
import { keepValue, keptValue } from "../browser/kept-value.ts";

const KEY = "rights";

/**
 * Returns the user's rights at the last visit, which the page assumes until the server answers. They only decide what
 * the page shows.
 */
export function keptRights(): readonly Right[] {
  const rights = keptValue(KEY);
  return Array.isArray(rights) ? (rights as readonly Right[]) : [];
}

export function keepRights(rights: readonly Right[]): void {
  keepValue(KEY, rights);
}
