import { z } from "zod";
import { id, list, nothing, time } from "../shapes.ts";
import { command } from "./command.ts";

const shown = {
  conversation: id,
  leaf: id.optional().describe("The last message of the branch that it shows; all branches when absent."),
};

/** A link to a conversation, without what opens it. */
export const share = z.object({
  id,
  ...shown,
  createdAt: time,
  expiresAt: time.describe("From then on it opens nothing."),
});

/** A link to a conversation, without what opens it. */
export type Share = z.infer<typeof share>;

/** Seconds for which a link can be good. */
const LONGEST = 366 * 24 * 60 * 60;

/** Links that show one conversation, and nothing else, to whoever has them. */
export const shareCommands = {
  "share.create": command(
    "Makes a link that shows one conversation, or one branch of it as it is now, to whoever has it.",
    {
      ...shown,
      seconds: z.int().min(1).max(LONGEST).optional().describe("How long it is good. A week when absent."),
    },
    z.object({
      share,
      token: z.string().describe("What opens it, told this once: the server keeps its digest."),
      path: z.string().describe("The address that opens it in a browser, behind that of the server."),
    }),
  ),
  "share.list": command(
    "The links that are good, the last made first.",
    { conversation: id.optional().describe("Only those to this one.") },
    z.object({ shares: list(share) }),
  ),
  "share.revoke": command(
    "Takes a link back: it opens nothing any more, and who looks is shown no more.",
    { share: id },
    nothing,
  ),
} as const;
