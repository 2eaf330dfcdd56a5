import type { Right } from "@banyan/protocol";

/** The identity of a client. Its credentials decide, not its own claims (S4). */
export interface Principal {
  /** Part of the key that makes a command take effect only once: it separates the commands of owner and guest. */
  readonly name: "owner" | "guest";
  readonly rights: readonly Right[];
  /** The client is the program itself on this machine: it may name any file of the machine. */
  readonly isHere?: boolean;
  /** The client came by a shared link and sees only what the link shows (S29). */
  readonly only?: Only;
}

/** The conversation that a link shows, and for how long. */
export interface Only {
  readonly conversation: string;
  /** The last message of the branch that the link shows; all branches when absent. */
  readonly leaf?: string;
  /** When the link expires, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** Aborts when the link expires or is revoked. */
  readonly ended: AbortSignal;
}

/** A client with all rights. */
export const OWNER: Principal = { name: "owner", rights: ["show", "watch", "act"] };

/** The user of the program that contains the desk. */
export const USER: Principal = { ...OWNER, isHere: true };

/** A client that may only watch. */
export const GUEST: Principal = { name: "guest", rights: ["show", "watch"] };

/** The principal of a guest with a link, who sees one conversation. */
export function shownOnly(only: Only): Principal {
  return { name: "guest", rights: ["show"], only };
}
