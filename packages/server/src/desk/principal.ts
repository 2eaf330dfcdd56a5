import type { Right } from "@banyan/protocol";

/** Who a client is: decided by what it showed, and by nothing that it says (S4). */
export interface Principal {
  /** Commands of one are told apart from those of another by it. */
  readonly name: "owner" | "guest";
  readonly rights: readonly Right[];
  /** They sit at this machine, in the program itself: a file that they name may be anywhere on it. */
  readonly isHere?: boolean;
  /** They came by a link that somebody made, and are shown nothing else (S29). */
  readonly only?: Only;
}

/** What is shown to who has a link, and how long. */
export interface Only {
  readonly conversation: string;
  /** The last message of the one branch that it shows; all branches when absent. */
  readonly leaf?: string;
  /** Milliseconds since 1970 at which its time is over. */
  readonly expiresAt: number;
  /** Aborts when it opens nothing any more: its time is over, or somebody took it back. */
  readonly ended: AbortSignal;
}

/** Who may do everything. */
export const OWNER: Principal = { name: "owner", rights: ["show", "watch", "act"] };

/** Who uses the program that the desk is in. */
export const USER: Principal = { ...OWNER, isHere: true };

/** Who may only watch. */
export const GUEST: Principal = { name: "guest", rights: ["show", "watch"] };

/** Who has a link: they are shown one conversation. */
export function shownOnly(only: Only): Principal {
  return { name: "guest", rights: ["show"], only };
}
