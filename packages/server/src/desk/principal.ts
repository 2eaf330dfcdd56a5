import type { Right } from "@banyan/protocol";

/** Who a client is: decided by what it showed, and by nothing that it says (S4). */
export interface Principal {
  /** Commands of one are told apart from those of another by it. */
  readonly name: "owner" | "guest";
  readonly rights: readonly Right[];
  /** They sit at this machine, in the program itself: a file that they name may be anywhere on it. */
  readonly isHere?: boolean;
}

/** Who may do everything. */
export const OWNER: Principal = { name: "owner", rights: ["watch", "act"] };

/** Who uses the program that the desk is in. */
export const USER: Principal = { ...OWNER, isHere: true };

/** Who may only watch. */
export const GUEST: Principal = { name: "guest", rights: ["watch"] };
