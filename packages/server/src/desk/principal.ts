import type { Right } from "@banyan/protocol";

/** Who a client is: decided by what it showed, and by nothing that it says (S4). */
export interface Principal {
  /** Commands of one are told apart from those of another by it. */
  readonly name: "owner" | "guest";
  readonly rights: readonly Right[];
}

/** Who may do everything. */
export const OWNER: Principal = { name: "owner", rights: ["watch", "act"] };

/** Who may only watch. */
export const GUEST: Principal = { name: "guest", rights: ["watch"] };
