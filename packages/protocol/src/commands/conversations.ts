import type { BrokenTurn } from "@banyan/core/conversation";
import { z } from "zod";
import { CONVERSATIONS, HITS } from "../shapes/bounds.ts";
import { count, engineSchema, id, lineSchema, listSchema, nothing, textSchema, time } from "../shapes/shapes.ts";
import { command } from "./command.ts";

/** Schema of a conversation in a list. */
export const listedConversation = z.object({
  id,
  title: z.string().describe("The title, else the beginning of the first message."),
  labels: z
    .record(z.string(), z.string())
    .describe("Such as `cwd`, its directory, and `program`, if a program began it."),
  createdAt: time,
  updatedAt: time,
  running: count.describe("Runs that are live, sub-agents' ones included."),
  waiting: count.describe("Questions that wait for a user."),
  unread: count.describe("Turns that ended since a user last looked."),
  broken: engineSchema<BrokenTurn["reason"]>(z.string())
    .optional()
    .describe("Why the last turn on this server has no answer."),
});

/** A conversation in a list. */
export type ListedConversation = z.infer<typeof listedConversation>;

const conversation = { conversation: id };

/** Commands about whole conversations. */
export const conversationCommands = {
  "conversation.list": command(
    "The conversations, the last written first.",
    {
      cwd: z.string().optional().describe("Only those of this directory."),
      limit: z.int().min(1).max(CONVERSATIONS).optional(),
      programs: z.boolean().optional().describe("Includes conversations of programs at `/v1`."),
    },
    z.object({ conversations: listSchema(listedConversation) }),
  ),
  "conversation.watch": command(
    "From now on `conversations` frames report changes of the list; `on: false` ends this.",
    { on: z.boolean() },
    nothing,
  ),
  "conversation.search": command(
    "Messages with all words, from all conversations and branches, the newest first.",
    {
      query: textSchema(0, 1_000),
      limit: z.int().min(1).max(HITS).optional().describe("20 when absent."),
      cwd: z.string().optional().describe("Only in conversations of this directory."),
      conversation: id.optional().describe("Only in this one."),
      programs: z.boolean().optional().describe("Also in conversations that programs began at `/v1`."),
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
            "Ranges in the excerpt, in UTF-16 units: start inclusive, end exclusive.",
          ),
        }),
      ),
    }),
  ),
  "conversation.create": command(
    "Begins a conversation, with the given id, if any; an existing id changes nothing. It is stored with its first message.",
    {
      conversation: id.optional().describe("A new one when absent."),
      program: z
        .enum(["streamed", "whole"])
        .optional()
        .describe("The program that begins it. Lists leave it out, except with `programs`."),
    },
    z.object(conversation),
  ),
  "conversation.open": command(
    "Finds a conversation by id, beginning of an id, or title; without a name, the last one.",
    {
      named: textSchema(0, 1_000).optional(),
      cwd: z.string().optional().describe("If no name is given: the last of this directory."),
    },
    z.object({ ...conversation, title: z.string() }),
  ),
  "conversation.rename": command("Gives a conversation a title.", { ...conversation, title: lineSchema(500) }, nothing),
  "conversation.remove": command("Removes a conversation for good, and interrupts its runs.", conversation, nothing),
  "conversation.seen": command("Marks a conversation as read.", conversation, nothing),
  "conversation.export": command(
    "A conversation as a file: JSON is the whole tree, Markdown one branch, HTML a page.",
    {
      ...conversation,
      format: z.enum(["json", "markdown", "html"]),
      leaf: id.optional().describe("For Markdown: the end of the branch; default: the last written."),
    },
    z.object({ name: z.string(), mediaType: z.string(), text: z.string() }),
  ),
  "conversation.import": command(
    "Imports an exported conversation (JSON). It keeps its id unless taken, and brings facts, no rights.",
    { text: z.string() },
    z.object({
      ...conversation,
      notice: z
        .string()
        .optional()
        .describe("A sentence on the events of the export that this version does not know and keeps."),
    }),
  ),
} as const;
