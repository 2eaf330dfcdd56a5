import { z } from "zod";
import { id, listSchema, nothing, time } from "../shapes/shapes.ts";
import { command } from "./command.ts";

const shown = {
  conversation: id,
  leaf: id.optional().describe("Last message of the shared branch. Default: all branches are shared."),
};

export const share = z.object({
  id,
  ...shown,
  createdAt: time,
  expiresAt: time.describe("Time at which the link expires."),
});

/**
 * A share link, without its secret.
 * @example const isOver = ({ expiresAt }: Share) => expiresAt < Date.now();
 */
export type Share = z.infer<typeof share>;

/** Maximum lifetime of a link in seconds. */
const LONGEST = 366 * 24 * 60 * 60;

/** Commands about share links. A link shows only one conversation, to everyone who has it. */
export const shareCommands = {
  "share.create": command(
    "Makes a link that shares a whole conversation, or one branch in its present state.",
    {
      ...shown,
      seconds: z.int().min(1).max(LONGEST).optional().describe("Seconds until the link expires. Default: a week."),
    },
    z.object({
      share,
      token: z.string().describe("Secret of the link. The server sends the secret once, and keeps only its digest."),
      path: z
        .string()
        .describe("Path of the link. Write the path after the server's address to open the link in a browser."),
    }),
  ),
  "share.list": command(
    "Lists the valid share links, the newest first.",
    { conversation: id.optional().describe("Lists only links to this conversation.") },
    z.object({ shares: listSchema(share) }),
  ),
  "share.revoke": command("Revokes a share link, and ends its feeds.", { share: id }, nothing),
} as const;
