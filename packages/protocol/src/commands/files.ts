import { z } from "zod";
import { fileChange } from "../shapes/parts.ts";
import { callId, id, listSchema, textSchema } from "../shapes/shapes.ts";
import { command } from "./command.ts";

const takenBack = z.object({
  changes: listSchema(fileChange).describe("Changes that were made."),
  problems: listSchema(z.string()).describe("One sentence for each file that was not restored, with the reason."),
  message: id.optional().describe("The message that tells the model about the changes. Absent if nothing changed."),
});

/** Clients translate these codes. */
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

export const fileCommands = {
  "file.find": command(
    "Finds files and folders for text after `@`: paths that contain its letters in this order, the best match first.",
    { query: textSchema(0, 1_000), limit: z.int().min(1).max(200).optional().describe("Default: 20.") },
    z.object({ files: listSchema(z.string()).describe("Paths relative to the workspace. Folders end in a slash.") }),
  ),
  "file.revert": command(
    "Restores the files that the branch with the last message `leaf` changed. With `beside`, restores the files as they were where the two branches fork. Does not restore a file that was changed in another way since. A message after `leaf` tells the model. Refused while an agent works or waits after one of these changes.",
    { conversation: id, leaf: id, beside: id.optional() },
    takenBack,
  ),
  "file.undo": command(
    "Restores the files that one `call` changed, like `file.revert`. `leaf` is the end of a branch with this call, or with the call that launched its sub-agent.",
    {
      conversation: id,
      leaf: id,
      call: callId,
      agreed: z
        .boolean()
        .optional()
        .describe("True if a user agreed to restore content that only an imported log contains."),
    },
    takenBack,
  ),
  "picture.read": command(
    "Loads a web image that a user requested. As for the tool `fetch`, the web server must be public, and rules must allow the URL. The image may have at most 5 MiB. Clients load an image only when a user requests it.",
    { url: textSchema(1, 8_000) },
    z.object({
      picture: z
        .object({
          address: z.string().describe("Address after redirects."),
          mediaType: z
            .enum(["image/png", "image/jpeg", "image/gif", "image/webp"])
            .describe("Type of the image, according to its bytes."),
          data: z.string().describe("Bytes in base 64."),
        })
        .optional()
        .describe("Absent if the image could not be loaded."),
      refused: z
        .object({ why: whyNoPicture, message: z.string().describe("The reason as a sentence, with the address.") })
        .optional()
        .describe("Reason why the image could not be loaded."),
    }),
  ),
} as const;
