import { z } from "zod";
import { fileChange } from "../shapes/parts.ts";
import { callId, id, listSchema, textSchema } from "../shapes/shapes.ts";
import { command } from "./command.ts";

/** The result of restoring files. */
const takenBack = z.object({
  changes: listSchema(fileChange).describe("The changes made."),
  problems: listSchema(z.string()).describe("Reasons for unchanged files, one sentence each."),
  message: id.optional().describe("The message that informs the model; absent when nothing changed."),
});

/** Codes for a missing web image, which clients translate. */
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

/** Commands about the agents' files, and about web images. */
export const fileCommands = {
  "file.find": command(
    "Files and folders for text after @: paths with its letters in order, the nearest first.",
    { query: textSchema(0, 1_000), limit: z.int().min(1).max(200).optional().describe("20 when absent.") },
    z.object({ files: listSchema(z.string()).describe("Relative to the workspace; a folder ends in a slash.") }),
  ),
  "file.revert": command(
    "Restores the files that the branch down to `leaf` changed; with `beside`, to the state at the fork from that branch. Files that something else changed stay. A message below `leaf` tells the model. Refused while an agent continues from such a change.",
    { conversation: id, leaf: id, beside: id.optional() },
    takenBack,
  ),
  "file.undo": command(
    "Restores the files that one `call` changed, like `file.revert`; `leaf` is the end of a branch with that call, or with the call that launched its sub-agent.",
    {
      conversation: id,
      leaf: id,
      call: callId,
      agreed: z.boolean().optional().describe("A user agreed to restore content that only an imported log names."),
    },
    takenBack,
  ),
  "picture.read": command(
    "Gets a web picture that a user requested, with the guards of `fetch`: public machines, allowed by rules on `fetch`, at most 5 MiB. Clients never request one by themselves.",
    { url: textSchema(1, 8_000) },
    z.object({
      picture: z
        .object({
          address: z.string().describe("Its final address."),
          mediaType: z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]).describe("Kind of its bytes."),
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
