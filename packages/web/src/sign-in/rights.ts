import type { Right } from "@banyan/protocol";
import { keep, kept } from "../shell/kept.ts";

const KEY = "rights";

/** What the server let this person do the last time: what is shown until it says so again. It decides nothing. */
export function keptRights(): readonly Right[] {
  const rights = kept(KEY);
  return Array.isArray(rights) ? (rights as readonly Right[]) : [];
}

/** Keeps what the server lets this person do. */
export function keepRights(rights: readonly Right[]): void {
  keep(KEY, rights);
}
