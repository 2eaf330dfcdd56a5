import { z } from "zod";
import { MESSAGES_AT_ONCE } from "../shapes/bounds.ts";
import { message } from "../shapes/message.ts";
import { count, cursor, id, listSchema, nothing } from "../shapes/shapes.ts";
import { command } from "./command.ts";

const conversation = { conversation: id };

export const feedCommands = {
  "feed.subscribe": command(
    "Starts the feed of a conversation. The feed begins with a snapshot if the command has no cursor, or if a server has reopened the conversation since it sent the cursor.",
    {
      ...conversation,
      from: cursor
        .optional()
        .describe("The feed continues after this cursor. With `seq` 0, the feed sends the whole log as events."),
      leaf: id.optional().describe("End of the viewed branch. Default: the newest message of the conversation."),
    },
    nothing,
  ),
  "feed.unsubscribe": command("Stops the feed of a conversation.", conversation, nothing),
  "message.read": command(
    "Returns complete messages, with the changes of all feed items that the server sent before this answer. If messages are missing in the answer, request them again.",
    { ...conversation, messages: listSchema(id).check(z.minLength(1), z.maxLength(MESSAGES_AT_ONCE)) },
    z.object({
      messages: listSchema(message),
      unknown: listSchema(id).describe("Requested ids for which there is no message."),
    }),
  ),
  "context.read": command(
    "Returns the parts of a branch's prompt, with their tokens.",
    {
      ...conversation,
      leaf: id.optional().describe("End of the branch. Default: the newest message of the conversation."),
    },
    z.object({
      parts: listSchema(
        z.object({
          kind: z.enum(["instructions", "tool", "conversation"]),
          source: z.string().describe("Where the part comes from: a file, a tool's name or an author."),
          tokens: count,
          isExact: z.boolean().describe("True if the model's own tokenizer counted the tokens."),
        }),
      ),
    }),
  ),
} as const;
