import type { BrokenTurn } from "@banyan/core/conversation";
import { z } from "zod";
import { CONVERSATIONS, CONVERSATIONS_AT_ONCE, HITS } from "../shapes/bounds.ts";
import { count, engineSchema, id, lineSchema, listSchema, nothing, textSchema, time } from "../shapes/shapes.ts";
import { command } from "./command.ts";

export const listedConversation = z.object({
  id,
  title: z.string().describe("The title. Without a title, the beginning of the first message."),
  labels: z
    .record(z.string(), z.string())
    .describe(
      "Facts about the conversation, such as `cwd` (its directory) and `program` (set if a program began the conversation through `/v1`).",
    ),
  createdAt: time,
  updatedAt: time,
  running: count.describe("Number of live runs, including sub-agents' runs."),
  waiting: count.describe("Number of questions that wait for a user."),
  unread: count.describe("Number of turns that have ended since a user last opened the conversation."),
  broken: engineSchema<BrokenTurn["reason"]>(z.string())
    .optional()
    .describe("Reason why the last turn on this server has no answer."),
});

/** A conversation in a list, with its title, times and state. See {@link conversationPages}. */
export type ListedConversation = z.infer<typeof listedConversation>;

const conversation = { conversation: id };

export const conversationCommands = {
  "conversation.list": command(
    "Lists the conversations. The conversation with the newest message comes first.",
    {
      cwd: z.string().optional().describe("Lists only conversations of this directory."),
      limit: z.int().min(1).max(CONVERSATIONS).optional().describe(`Default: ${CONVERSATIONS_AT_ONCE}.`),
      after: z
        .object({ id, updatedAt: time })
        .optional()
        .describe("The last conversation of the previous page. The list continues after this conversation."),
      programs: z.boolean().optional().describe("True to include conversations that programs began through `/v1`."),
    },
    z.object({ conversations: listSchema(listedConversation) }),
  ),
  "conversation.watch": command(
    "Makes the server send `conversations` frames, which report changes of the list. `on: false` ends these frames.",
    { on: z.boolean() },
    nothing,
  ),
  "conversation.search": command(
    "Finds messages that contain all the words, in all conversations and branches. The newest message comes first.",
    {
      query: textSchema(0, 1_000),
      limit: z.int().min(1).max(HITS).optional().describe("Default: 20."),
      cwd: z.string().optional().describe("Searches only conversations of this directory."),
      conversation: id.optional().describe("Searches only this conversation."),
      programs: z
        .boolean()
        .optional()
        .describe("True to search also the conversations that programs began through `/v1`."),
    },
    z.object({
      hits: listSchema(
        z.object({
          conversation: id,
          title: z.string(),
          message: id,
          role: z.enum(["user", "assistant"]),
          at: time,
          excerpt: z.string(),
          matches: listSchema(z.tuple([count, count]).readonly()).describe(
            "Where the words are in the excerpt: ranges in UTF-16 units. Each range includes its start and excludes its end.",
          ),
        }),
      ),
    }),
  ),
  "conversation.create": command(
    "Begins a conversation. Changes nothing if a conversation with this id exists. The server stores the conversation together with its first message.",
    {
      conversation: id.optional().describe("Id of the conversation. Default: a new id."),
      program: z
        .enum(["streamed", "whole"])
        .optional()
        .describe(
          "Set if a program begins the conversation through `/v1`: the way in which the program reads the first answer. `conversation.list` shows such conversations only with `programs`.",
        ),
    },
    z.object(conversation),
  ),
  "conversation.open": command(
    "Finds a conversation by its id, the beginning of its id, or its title. Without a name, finds the conversation with the newest message.",
    {
      named: textSchema(0, 1_000).optional(),
      cwd: z.string().optional().describe("Without a name, finds the newest conversation of this directory."),
    },
    z.object({ ...conversation, title: z.string() }),
  ),
  "conversation.rename": command("Gives a conversation a title.", { ...conversation, title: lineSchema(500) }, nothing),
  "conversation.remove": command(
    "Interrupts the runs of a conversation and removes the conversation for good.",
    conversation,
    nothing,
  ),
  "conversation.seen": command("Marks a conversation as read.", conversation, nothing),
  "conversation.export": command(
    "Returns a conversation as a file. JSON has the whole tree, Markdown has one branch, and HTML is a web page.",
    {
      ...conversation,
      format: z.enum(["json", "markdown", "html"]),
      leaf: id
        .optional()
        .describe(
          "For Markdown: the last message of the exported branch. Default: the newest message of the conversation.",
        ),
    },
    z.object({ name: z.string(), mediaType: z.string(), text: z.string() }),
  ),
  "conversation.import": command(
    "Imports an exported conversation (JSON). The conversation keeps its id, unless this server already has the id. Rules and approvals of the file do not apply on this server.",
    { text: z.string() },
    z.object({
      ...conversation,
      notice: z
        .string()
        .optional()
        .describe(
          "A sentence about events of types that this version does not know. The server stores these events unchanged.",
        ),
    }),
  ),
} as const;
