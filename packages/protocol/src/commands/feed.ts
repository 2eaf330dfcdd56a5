import { z } from "zod";
import { MESSAGES_AT_ONCE } from "../bounds.ts";
import { message } from "../message.ts";
import { count, cursor, id, list, nothing } from "../shapes.ts";
import { command } from "./command.ts";

const conversation = { conversation: id };

/** What a client sees of a conversation. */
export const feedCommands = {
  "feed.subscribe": command(
    "From now on the client gets the feed of a conversation. Without a cursor, or when the one named belongs to another writer, a snapshot comes first.",
    {
      ...conversation,
      from: cursor.optional().describe("Go on behind this place. With seq 0: the whole log, as events."),
      leaf: id.optional().describe("Whose branch is in view; where it was last written to when absent."),
    },
    nothing,
  ),
  "feed.unsubscribe": command("The client gets no more of the feed.", conversation, nothing),
  "message.read": command(
    "Messages, whole, as they are at this place of the feed. May hold fewer than asked for: ask again for the rest.",
    { ...conversation, messages: list(id).check(z.minLength(1), z.maxLength(MESSAGES_AT_ONCE)) },
    z.object({ messages: list(message), unknown: list(id).describe("Ids of no message.") }),
  ),
  "context.read": command(
    "What stands in front of the model on a branch, part by part, with the tokens that each takes.",
    { ...conversation, leaf: id.optional().describe("The end of the branch; the last written one when absent.") },
    z.object({
      parts: list(
        z.object({
          kind: z.enum(["instructions", "tool", "conversation"]),
          source: z.string().describe("A file, the name of a tool, or who said it."),
          tokens: count,
          isExact: z.boolean().describe("Whether they were counted with the model's own tokenizer."),
        }),
      ),
    }),
  ),
} as const;
