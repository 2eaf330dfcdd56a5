import { z } from "zod";
import { MESSAGES_AT_ONCE } from "../shapes/bounds.ts";
import { message } from "../shapes/message.ts";
import { count, cursor, id, listSchema, nothing } from "../shapes/shapes.ts";
import { command } from "./command.ts";

const conversation = { conversation: id };

/** Commands about the view of a conversation. */
export const feedCommands = {
  "feed.subscribe": command(
    "Sends the feed of a conversation from now on. Without a cursor, or with another writer's, a snapshot comes first.",
    {
      ...conversation,
      from: cursor.optional().describe("Continues after this cursor. With seq 0: the whole log, as events."),
      leaf: id.optional().describe("End of the viewed branch; default: the last written message."),
    },
    nothing,
  ),
  "feed.unsubscribe": command("The client gets no more of the feed.", conversation, nothing),
  "message.read": command(
    "Messages, whole, as they are at this place of the feed. May hold fewer than asked for: ask again for the rest.",
    { ...conversation, messages: listSchema(id).check(z.minLength(1), z.maxLength(MESSAGES_AT_ONCE)) },
    z.object({ messages: listSchema(message), unknown: listSchema(id).describe("Ids of no message.") }),
  ),
  "context.read": command(
    "The parts of a branch's prompt, with their tokens.",
    { ...conversation, leaf: id.optional().describe("The end of the branch; the last written one when absent.") },
    z.object({
      parts: listSchema(
        z.object({
          kind: z.enum(["instructions", "tool", "conversation"]),
          source: z.string().describe("A file, a tool's name, or an author."),
          tokens: count,
          isExact: z.boolean().describe("Counted with the model's own tokenizer."),
        }),
      ),
    }),
  ),
} as const;
