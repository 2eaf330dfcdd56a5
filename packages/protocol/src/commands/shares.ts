import { z } from "zod";
import { id, listSchema, nothing, time } from "../shapes/shapes.ts";
import { command } from "./command.ts";

const shown = {
  conversation: id,
  leaf: id.optional().describe("End of its branch; default: all branches."),
};

/** Schema of a share link, without its secret. */
export const share = z.object({
  id,
  ...shown,
  createdAt: time,
  expiresAt: time.describe("Its expiry."),
});

/** A share link, without its secret. */
export type Share = z.infer<typeof share>;

/** Maximum lifetime of a link in seconds. */
const LONGEST = 366 * 24 * 60 * 60;

/** Commands about share links. A link shows only one conversation, to everyone who has it. */
export const shareCommands = {
  "share.create": command(
    "Makes a link to one conversation, or to one branch as it is now.",
    {
      ...shown,
      seconds: z.int().min(1).max(LONGEST).optional().describe("Validity. Default: a week."),
    },
    z.object({
      share,
      token: z.string().describe("The secret that opens it, sent only once: the server keeps its digest."),
      path: z.string().describe("The address that opens it in a browser, behind that of the server."),
    }),
  ),
  "share.list": command(
    "The valid links, the newest first.",
    { conversation: id.optional().describe("Only those to this one.") },
    z.object({ shares: listSchema(share) }),
  ),
  "share.revoke": command("Revokes a link, and ends its feeds.", { share: id }, nothing),
} as const;
