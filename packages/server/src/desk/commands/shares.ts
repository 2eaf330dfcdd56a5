import type { Share } from "@banyan/protocol";
import { NotThere } from "../problem.ts";
import { mustBeThere } from "./at-rest.ts";
import type { Handlers } from "./workplace.ts";

/** The links that show a conversation to whoever has them: a server keeps them, and opens what they show (S29). */
export interface Shares {
  /** Makes one, and the token that opens it, which is told this once. Throws `ShareError`. */
  create(
    shown: { readonly conversation: string; readonly leaf?: string },
    seconds: number,
  ): { readonly share: Share; readonly token: string };
  /** Those that are good, of one conversation or of all, the last made first. */
  list(conversation?: string): Share[];
  /** Takes one back; says whether there was one of this id. */
  revoke(id: string): boolean;
  /** Takes back all to a conversation: it is gone, and one that comes by its id is another. */
  forget(conversation: string): void;
}

/** No link can be made. */
export class ShareError extends Error {
  override readonly name = "ShareError";
}

/** Seconds for which a link is good when nobody says. */
const WEEK = 7 * 24 * 60 * 60;

/** What concerns links that show a conversation (S29). */
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
