import { z } from "zod";
import { fileChange } from "../shapes/parts.ts";
import { callId, count, id, listSchema, textSchema } from "../shapes/shapes.ts";
import { command } from "./command.ts";

const takenBack = z.object({
  changes: listSchema(fileChange).describe("The changes that the command made to files."),
  problems: listSchema(z.string()).describe("One sentence for each file that was not restored, with the reason."),
  message: id.optional().describe("The message that tells the model about the changes. Absent if nothing changed."),
});

const target = {
  to: id
    .optional()
    .describe(
      "The message to which the files go back. On this branch: to their state before the next message. For a message of another branch: to their state after the last call up to that message. If no call changed files: to their state at the fork of the branches. Default: the root, the state before the first message.",
    ),
  undo: z
    .boolean()
    .optional()
    .describe("Set this instead of `to` to restore the files before the latest `file.rewind`."),
};

const changeSince = fileChange.extend({
  entry: z.enum(["file", "link", "folder"]),
  by: z
    .enum(["agent", "others", "both"])
    .describe(
      "Who changed the path since the compared state. `agent`: the agent on this branch, directly or with its commands. `others`: anyone else, such as a user, another program, another branch or another conversation.",
    ),
  canRestore: z.boolean().describe("False if the earlier content was not kept. A rewind then cannot restore the file."),
  changers: listSchema(
    z.object({
      by: z
        .enum(["tool", "command", "background", "restoration", "conversation", "others"])
        .describe(
          "`tool`, `command`: a call of this conversation. `background`: a background command. `restoration`: an undo. `conversation`: another conversation. `others`: a user or another program.",
        ),
      call: callId.optional().describe("The call of a tool or command."),
    }),
  ).describe("All authors of changes to the path since the compared state, in order. Empty if unknown."),
});

const leftOut = z.object({
  path: z.string().describe("Path relative to the workspace."),
  why: z
    .enum(["cache", "large", "ignored", "full", "special", "unreadable", "name"])
    .describe(
      "`cache`: a folder that other files rebuild, such as `node_modules`. `large`: over 64 MiB. `ignored`: git ignores the file, and such files exceed 200 MiB. `full`: the store is full. `special`: no file, link or folder. `name`: the name is not valid UTF-8.",
    ),
  size: count.optional().describe("Bytes, if known."),
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
    "Finds files and folders for the text after `@`. A path matches if it contains all letters of the text in the same order. The best match comes first.",
    { query: textSchema(0, 1_000), limit: z.int().min(1).max(200).optional().describe("Default: 20.") },
    z.object({ files: listSchema(z.string()).describe("Paths relative to the workspace. Folders end in a slash.") }),
  ),
  "file.undo": command(
    "Undoes the file changes of one `call`. Files that were also changed in another way since then stay as they are. A new message after `leaf` reports the restored files to the model. `leaf` is the end of a branch that contains this call. For a call of a sub-agent, the branch contains the call that launched the sub-agent. Refused while an agent works or waits after this call.",
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
  "file.compare": command(
    "Compares the workspace with its state at another message of the conversation, or with git's last commit. Lists all changes, whoever made them, and changes no file.",
    {
      conversation: id,
      leaf: id,
      ...target,
      turn: z
        .boolean()
        .optional()
        .describe("Set this instead of `to` to compare with the files before the last turn that changed a file."),
      git: z
        .boolean()
        .optional()
        .describe(
          "Set this instead of `to` to compare with git's last commit. The comparison includes new files, unless git ignores them. Digests are then git's object ids.",
        ),
    },
    z.object({
      asOf: count
        .optional()
        .describe(
          "The moment of the comparison. Send this value with `file.rewind`. Absent if no file can differ, and if `git` is set.",
        ),
      to: id.optional().describe("The message whose files `file.rewind` restores. Absent for the root."),
      files: listSchema(changeSince).describe(
        "The changes since the compared state. A rewind undoes these changes. The mode of a folder begins with `04`. Only the first 200 files have a diff.",
      ),
      leftOut: listSchema(leftOut).describe("Parts of the workspace that no rewind restores."),
      processes: count.describe("Number of background commands that a rewind would stop."),
    }),
  ),
  "file.rewind": command(
    "Restores files to their state at another message. Send `file.compare` first: files that changed after the comparison stay as they are. A new message after `leaf` reports the restored files to the model. Refused while an agent works or waits on this branch.",
    {
      conversation: id,
      leaf: id,
      ...target,
      asOf: count.describe("The moment of the comparison, as `file.compare` returned it."),
      paths: listSchema(textSchema(1, 8_192))
        .optional()
        .describe("The paths to restore. Default: all paths that only the agent changed."),
    },
    takenBack,
  ),
  "picture.read": command(
    "Loads an image from the web. The limits of the tool `fetch` apply: the web server must be public, and permission rules must allow the URL. The image can have at most 5 MiB. Clients send this command only when a user requests the image.",
    { url: textSchema(1, 8_000) },
    z.object({
      picture: z
        .object({
          address: z.string().describe("Address after redirects."),
          mediaType: z
            .enum(["image/png", "image/jpeg", "image/gif", "image/webp"])
            .describe("Media type of the image, found from its bytes."),
          data: z.string().describe("The bytes of the image in base 64."),
        })
        .optional()
        .describe("The image. Absent if the image could not be loaded."),
      refused: z
        .object({ why: whyNoPicture, message: z.string().describe("The reason as a sentence, with the address.") })
        .optional()
        .describe("Reason why the image could not be loaded."),
    }),
  ),
} as const;
