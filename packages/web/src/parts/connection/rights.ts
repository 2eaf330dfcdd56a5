import type { Right } from "@banyan/protocol";
import { keep, kept } from "../browser/kept.ts";

const KEY = "rights";

/** The user's rights at the last visit, shown until the server answers. They grant nothing. */
export function keptRights(): readonly Right[] {
  const rights = kept(KEY);
  return Array.isArray(rights) ? (rights as readonly Right[]) : [];
}

/** Stores the user's rights. */
export function keepRights(rights: readonly Right[]): void {
  keep(KEY, rights);
}
