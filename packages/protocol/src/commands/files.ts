import { z } from "zod";
import { fileChange } from "../parts.ts";
import { callId, id, list, text } from "../shapes.ts";
import { command } from "./command.ts";

/** What became of files that are to be as they were. */
const takenBack = z.object({
  changes: list(fileChange).describe("What was done."),
  problems: list(z.string()).describe("Why a file stays as it is, one sentence each."),
  message: id.optional().describe("The message that says so to the model; absent when nothing was done."),
});

/** Why a picture of the web is not there, for a client that says it in its own words. */
const whyNoPicture = z.enum([
  "address",
  "forbidden",
  "rule",
  "redirect",
  "missing",
  "status",
  "content",
  "size",
  "time",
  "network",
]);

/** The files that agents work on, and pictures that they name. */
export const fileCommands = {
  "file.find": command(
    "Files and folders of the workspace for what is typed behind @: those whose path holds its letters in order, the nearest first.",
    { query: text(0, 1_000), limit: z.int().min(1).max(200).optional().describe("20 when absent.") },
    z.object({ files: list(z.string()).describe("From the workspace; a folder has a slash behind it.") }),
  ),
  "file.revert": command(
    "Puts the files that the branch down to `leaf` has changed back to what they were before it; with `beside`, before it parted from the branch down to there. A file that something else has changed since stays as it is. Below `leaf` a message says what was put back, which the model gets with what is said next there. Refused while an agent goes on from such a change.",
    { conversation: id, leaf: id, beside: id.optional() },
    takenBack,
  ),
  "file.undo": command(
    "Puts the files that one `call` has changed back to what they were before it, as `file.revert` does; `leaf` is the end of a branch with that call, or with the one that launched its sub-agent.",
    {
      conversation: id,
      leaf: id,
      call: callId,
      agreed: z
        .boolean()
        .optional()
        .describe("A person was asked, and wants back what a log from elsewhere calls the previous content too."),
    },
    takenBack,
  ),
  "picture.read": command(
    "Gets a picture of the web for a person who saw its address and asked for it, with the guards of `fetch`: from public machines, as far as rules on `fetch` allow it, at most 5 MiB. No client asks for one by itself.",
    { url: text(1, 8_000) },
    z.object({
      picture: z
        .object({
          address: z.string().describe("Where it was found in the end."),
          mediaType: z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]).describe("What its bytes are."),
          data: z.string().describe("In base 64."),
        })
        .optional()
        .describe("Absent when it cannot be had."),
      refused: z
        .object({ why: whyNoPicture, message: z.string().describe("A sentence that names the address.") })
        .optional()
        .describe("Why it cannot be had; absent when it is there."),
    }),
  ),
} as const;
