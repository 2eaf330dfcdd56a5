import type { Right, Share } from "@banyan/protocol";

/** The identity of a client. Its credentials decide, not its own claims (S4). */
export interface Principal {
  /** Part of the key that makes a command take effect only once: it separates the commands of owner and guest. */
  readonly name: "owner" | "guest";
  readonly rights: readonly Right[];
  /** The client is the program itself on this machine: it may name any file of the machine. */
  readonly isHere?: boolean;
  /** The client came by a shared link and sees only what the link shows (S29). */
  readonly only?: ShareScope;
}

/** The conversation that a link shows, and for how long. */
export interface ShareScope {
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
export function sharePrincipal(only: ShareScope): Principal {
  return { name: "guest", rights: ["show"], only };
}

/** The links that show a conversation to anyone who has them (S29). The server keeps and opens them. */
export interface ShareStore {
  /** Creates a link and its token, which only this call returns. Throws `ShareError` for too many links or if the link cannot be stored. */
  create(
    shown: { readonly conversation: string; readonly leaf?: string },
    seconds: number,
  ): { readonly share: Share; readonly token: string };
  /** The valid links of one conversation or of all, the newest first. */
  list(conversation?: string): Share[];
  /** Takes one back; says whether there was one of this id. */
  revoke(id: string): boolean;
  /** Takes back all to a conversation: it is gone, and one that comes by its id is another. */
  forget(conversation: string): void;
}

/** A link that cannot be created, or whose end cannot be stored. */
export class ShareError extends Error {
  override readonly name = "ShareError";
}
