import { ShareError, type ShareStore } from "../request/principal.ts";
import { NotThereError } from "../request/problem.ts";
import { requireMessages } from "./at-rest.ts";
import type { Handlers } from "./workplace.ts";

/** Default lifetime of a link, in seconds. */
const WEEK = 7 * 24 * 60 * 60;

/** Handlers of the commands about shared links (S29). */
export const shareHandlers: Handlers<"share.create" | "share.list" | "share.revoke"> = {
  async "share.create"({ conversation, leaf, seconds = WEEK }, { conversations, shares }) {
    const made = requireShares(shares);
    requireMessages((await conversations.open(conversation)).session.state, leaf);
    const { share, token } = made.create({ conversation, ...(leaf !== undefined && { leaf }) }, seconds);
    return { share, token, path: `/?token=${token}` };
  },

  "share.list"({ conversation }, { shares }) {
    return { shares: requireShares(shares).list(conversation) };
  },

  "share.revoke"({ share }, { shares }) {
    if (!requireShares(shares).revoke(share)) throw new NotThereError(`There is no shared link ${share}.`);
    return {};
  },
};

function requireShares(shares: ShareStore | undefined): ShareStore {
  if (shares) return shares;
  throw new ShareError(
    "A link needs a server, and this program runs without one. To share a file instead, use /export with HTML.",
  );
}
