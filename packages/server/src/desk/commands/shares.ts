import type { Share } from "@banyan/protocol";
import { NotThere } from "../problem.ts";
import { mustBeThere } from "./at-rest.ts";
import type { Handlers } from "./workplace.ts";

/** The links that show a conversation to anyone who has them (S29). The server keeps and opens them. */
export interface Shares {
  /** Creates a link and its token, which only this call returns. Throws `ShareError` if there are too many links. */
  create(
    shown: { readonly conversation: string; readonly leaf?: string },
    seconds: number,
  ): { readonly share: Share; readonly token: string };
  /** The valid links of one conversation or of all, the newest first. */
  list(conversation?: string): Share[];
  /** Revokes a link. Returns whether a link of this id existed. */
  revoke(id: string): boolean;
  /** Revokes all links to a removed conversation: a later conversation of the same id is a different one. */
  forget(conversation: string): void;
}

/** A link that cannot be created. */
export class ShareError extends Error {
  override readonly name = "ShareError";
}

/** Default lifetime of a link, in seconds. */
const WEEK = 7 * 24 * 60 * 60;

/** Commands about links that show a conversation (S29). */
export const shareHandlers: Handlers<"share.create" | "share.list" | "share.revoke"> = {
  async "share.create"({ conversation, leaf, seconds = WEEK }, { conversations, shares }) {
    const made = there(shares);
    mustBeThere((await conversations.open(conversation)).session.state, leaf);
    const { share, token } = made.create({ conversation, ...(leaf !== undefined && { leaf }) }, seconds);
    return { share, token, path: `/?token=${token}` };
  },

  "share.list"({ conversation }, { shares }) {
    return { shares: there(shares).list(conversation) };
  },

  "share.revoke"({ share }, { shares }) {
    if (!there(shares).revoke(share)) throw new NotThere(`There is no link ${share}.`);
    return {};
  },
};

function there(shares: Shares | undefined): Shares {
  if (shares) return shares;
  throw new ShareError("Links need a server, and none is running here. To share a file, use /export with HTML.");
}
