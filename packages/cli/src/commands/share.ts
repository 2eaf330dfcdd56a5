import type { Client } from "@banyan/client";
import type { ShareRequest } from "@banyan/client/actions";
import { visibleLine } from "@banyan/core/shown";
import { formatTime } from "../show/table.ts";
import type { ConversationContext, ShareLinks } from "./command.ts";

/**
 * Creates, lists and revokes links to a conversation on a server. `address`: the address of the server in the links.
 */
export function sharesAt(client: Client, address: string, open: () => Promise<{ readonly id: string }>): ShareLinks {
  return {
    async create(shown) {
      const { share, path } = await client.ask("share.create", { conversation: (await open()).id, ...shown });
      return { share, address: `${address}${path}` };
    },
    list: async () => (await client.ask("share.list", { conversation: (await open()).id })).shares,
    revoke: (share) => client.ask("share.revoke", { share }),
  };
}

/** Runs `/share`: creates, lists or revokes links to the conversation. */
export async function shareConversation(
  { shares, leaf, write }: ConversationContext,
  wish: ShareRequest,
): Promise<void> {
  if (wish.type === "list") write(...(await shareLines(shares)));
  else if (wish.type === "revoke") {
    await shares.revoke(wish.id);
    write("The link no longer works.");
  } else {
    const { isBranch, seconds } = wish;
    const branch = isBranch && leaf !== null ? { leaf } : {};
    const made = await shares.create({ ...branch, ...(seconds !== undefined && { seconds }) });
    const what = "leaf" in branch ? "this branch as it is now" : "this conversation";
    write(
      `Anyone with this link sees ${what}, and nothing else, until ${formatTime(made.share.expiresAt)}:`,
      made.address,
    );
    write(`/share revoke ${visibleLine(made.share.id)} revokes it. The link is shown only this time.`);
  }
}

async function shareLines(shares: ShareLinks): Promise<string[]> {
  const known = await shares.list();
  if (known.length === 0) return ["This conversation has no links."];
  return known.map(
    ({ id, leaf, expiresAt }) =>
      `${visibleLine(id)}  ${leaf === undefined ? "the conversation" : "a branch"}, until ${formatTime(expiresAt)}`,
  );
}
