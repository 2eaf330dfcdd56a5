import type { Right, Share } from "@banyan/protocol";

/**
 * The identity and rights of a client. They follow from the client's credentials, not from its claims (S4).
 * See {@link OWNER}.
 */
export interface Principal {
  /** The name of the client. It also separates the command ids of owner and guest. */
  readonly name: "owner" | "guest";
  readonly rights: readonly Right[];
  /** The user to whom the desk's conversations belong. Absent: the desk has the conversations of all users. */
  readonly user?: string;
  /** True if the client is this program itself. It can then name any file of the machine. */
  readonly isHere?: boolean;
  /** For a client with a shared link: the conversation that the link shows (S29). */
  readonly only?: ShareScope;
}

/** A conversation that a shared link shows, and when the link ends. See {@link Desk}. */
export interface ShareScope {
  readonly conversation: string;
  /** The last message of the branch that the link shows. Absent: the link shows all branches. */
  readonly leaf?: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly ended: AbortSignal;
}

/**
 * The principal of a client with all rights.
 * @example const editor = new Client(new Desk({ host }).link({ principal: OWNER }));
 */
export const OWNER: Principal = { name: "owner", rights: ["show", "watch", "act"] };

/**
 * The principal of a user in the same process as the desk.
 * @example const terminal = new Client(new Desk({ host }).link({ principal: USER, shares: true }));
 */
export const USER: Principal = { ...OWNER, isHere: true };

/**
 * The principal of a client that may only watch.
 * @example const visitor = new Client(new Desk({ host }).link({ principal: GUEST }));
 */
export const GUEST: Principal = { name: "guest", rights: ["show", "watch"] };

/** Returns the principal of a guest with a shared link. */
export function sharePrincipal(only: ShareScope): Principal {
  return { name: "guest", rights: ["show"], only };
}

/** The shared links of a server, each for one conversation (S29). See {@link DeskOptions}. */
export interface ShareStore {
  /** Creates a link. Only this call returns its token. Throws `ShareError` for too many links or if storing fails. */
  create(
    shown: { readonly conversation: string; readonly leaf?: string },
    seconds: number,
  ): { readonly share: Share; readonly token: string };
  /** Returns valid links, newest first. */
  list(conversation?: string): Share[];
  /** Revokes a link. Returns whether the link existed. */
  revoke(id: string): boolean;
  /** Revokes all links to a removed conversation: a later conversation with its id is another one. */
  forget(conversation: string): void;
}

/** The error of a link that cannot be created or revoked. */
export class ShareError extends Error {
  override readonly name = "ShareError";
}
