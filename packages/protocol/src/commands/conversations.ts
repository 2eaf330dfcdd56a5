import type { BrokenTurn } from "@banyan/core/conversation";
import { z } from "zod";
import { CONVERSATIONS, HITS } from "../bounds.ts";
import { count, id, line, list, nothing, schemaOf, text, time } from "../shapes.ts";
import { command } from "./command.ts";

/** A conversation in a list. */
export const listedConversation = z.object({
  id,
  title: z.string().describe("The title, else the beginning of the first message."),
  labels: z
    .record(z.string(), z.string())
    .describe("Such as `cwd`, the directory that it is about, and `program`, of one that a program began."),
  createdAt: time,
  updatedAt: time,
  running: count.describe("Runs that are live, sub-agents' ones included."),
  waiting: count.describe("Questions that wait for a person."),
  unread: count.describe("Turns that ended since somebody looked."),
  broken: schemaOf<BrokenTurn["reason"]>(z.string())
    .optional()
    .describe("Why the last turn that this server saw did not come to its answer; absent when it did."),
});

/** A conversation in a list. */
export type ListedConversation = z.infer<typeof listedConversation>;

const conversation = { conversation: id };

/** What concerns conversations as a whole. */
export const conversationCommands = {
  "conversation.list": command(
    "The conversations, the last written first.",
    {
      cwd: z.string().optional().describe("Only those of this directory."),
      limit: z.int().min(1).max(CONVERSATIONS).optional(),
      programs: z
        .boolean()
        .optional()
        .describe("Those too that programs began at `/v1`. They are left out when absent."),
    },
    z.object({ conversations: list(listedConversation) }),
  ),
  "conversation.watch": command(
    "From now on `conversations` frames tell what changes in the list; with `on: false`, no more.",
    { on: z.boolean() },
    nothing,
  ),
  "conversation.search": command(
    "Messages of all conversations and branches in which all words occur, the newest first.",
    {
      query: text(0, 1_000),
      limit: z.int().min(1).max(HITS).optional().describe("20 when absent."),
      cwd: z.string().optional().describe("Only in conversations of this directory."),
      conversation: id.optional().describe("Only in this one."),
      programs: z
        .boolean()
        .optional()
        .describe("Also in conversations that programs began at `/v1`. They are left out when absent."),
    },
    z.object({
      hits: list(
        z.object({
          conversation: id,
          title: z.string(),
          message: id,
          role: z.enum(["user", "assistant"]),
          at: time,
          excerpt: z.string(),
          matches: list(z.tuple([count, count]).readonly()).describe(
            "Places in the excerpt in UTF-16 units: each from a first one up to but without a last one.",
          ),
        }),
      ),
    }),
  ),
  "conversation.create": command(
    "Begins a conversation, of the id that is named, if one is; when there is one of that id, nothing changes. It is stored with its first message.",
    {
      conversation: id.optional().describe("A new one when absent."),
      program: z
        .enum(["streamed", "whole"])
        .optional()
        .describe("A program begins it, and takes its answers in this way. Lists leave it out, but for `programs`."),
    },
    z.object(conversation),
  ),
  "conversation.open": command(
    "Finds the conversation that a person means by an id, the beginning of one, or a title; the last one without a name.",
    {
      named: text(0, 1_000).optional(),
      cwd: z.string().optional().describe("Without a name: the last one of this directory."),
    },
    z.object({ ...conversation, title: z.string() }),
  ),
  "conversation.rename": command("Gives a conversation a title.", { ...conversation, title: line(500) }, nothing),
  "conversation.remove": command(
    "Removes a conversation for good. What runs in it is interrupted.",
    conversation,
    nothing,
  ),
  "conversation.seen": command(
    "The person has looked at the conversation as it is now: nothing of it is unread.",
    conversation,
    nothing,
  ),
  "conversation.export": command(
    "A conversation as a file: JSON holds the whole tree, Markdown one branch, HTML a page of its own.",
    {
      ...conversation,
      format: z.enum(["json", "markdown", "html"]),
      leaf: id.optional().describe("For Markdown: the end of the branch; the last written one when absent."),
    },
    z.object({ name: z.string(), mediaType: z.string(), text: z.string() }),
  ),
  "conversation.import": command(
    "Makes a conversation of an exported one (JSON). It keeps its id unless that is taken. It brings facts and no rights.",
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
