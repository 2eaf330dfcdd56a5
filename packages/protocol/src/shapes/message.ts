import type { Message } from "@banyan/core/conversation";
import { z } from "zod";
import { about, behindSummary, broughtFile, cacheMiss, fileChange, part, seenFile, usage, userPart } from "./parts.ts";
import { callId, count, dollars, engineSchema, id, json, listSchema, time } from "./shapes.ts";

const draft = z.object({
  index: count.describe("Index of the change in its call, from 0."),
  path: z.string(),
  start: count.optional().describe("First replaced line, from 1. Absent if the whole file is replaced."),
  end: count.optional().describe("First line after the replaced lines."),
  text: z.string(),
});

export const call = z.looseObject({
  id: callId,
  tool: z.string(),
  inputText: z.string().describe("Arguments exactly as the model wrote them."),
  via: z
    .string()
    .optional()
    .describe(
      "Set if the model called a tool that forwarded the call: the name of that tool. `tool` is the tool that ran.",
    ),
  input: json
    .optional()
    .describe(
      "Arguments that were checked against the tool's schema. Absent while the model writes the arguments, and if they are not JSON.",
    ),
  about: about.optional(),
  executedInput: json.optional().describe("Arguments with which the call ran, if a user changed them."),
  status: z.enum(["pending", "approval-requested", "executing", "completed", "failed", "denied", "cancelled"]),
  attempt: count.describe("Number of starts."),
  approved: z.boolean().optional().describe("The user's decision about the call."),
  progress: z.string().describe("Last progress report of the running tool."),
  output: z.string().optional().describe("Result for users and the model. Absent until the call ends."),
  modelOutput: z.string().optional().describe("Result that the model gets in place of `output`."),
  files: listSchema(broughtFile)
    .optional()
    .describe("Files for the model, in addition to `output`. The server can leave out the data of these files."),
  drafts: listSchema(draft).optional(),
  changes: listSchema(fileChange).optional(),
  seen: listSchema(seenFile).optional().describe("Files that the call read, or that its command changed."),
  changedFiles: count
    .optional()
    .describe(
      "Number of changed files for which there is no `file.changed` event, such as files that a command changed.",
    ),
  startedAt: time.optional(),
  endedAt: time.optional(),
});

const base = {
  id,
  parentId: id.nullable(),
  call: callId.optional().describe("For sub-agents' messages: the call that launched the sub-agent."),
  createdAt: time,
  label: z.string().optional(),
  starred: z.boolean().optional(),
  removed: z.boolean().optional(),
  unreadable: z
    .string()
    .optional()
    .describe("Reason why the message is unreadable. Then `parts` is empty, and requests omit the message."),
};

/**
 * Schema of a complete message.
 * @example const messages = z.array(message).parse(JSON.parse(await readFile("messages.json", "utf8")));
 */
export const message = engineSchema<Message>(
  z.discriminatedUnion("role", [
    z.looseObject({
      ...base,
      role: z.literal("user"),
      author: z.enum(["user", "tool", "system"]),
      parts: listSchema(userPart),
      recalled: listSchema(
        z.object({
          text: z.string(),
          source: z.string(),
          conversation: z.string().optional(),
          message: z.string().optional(),
          mark: z.string().optional().describe("Mark with which the model cites the entry, such as `m3`."),
          dismissed: z.literal(true).optional(),
        }),
      ).optional(),
      worktree: z
        .string()
        .optional()
        .describe("Name of a git worktree. This message and all messages below it use the worktree."),
    }),
    z.looseObject({
      ...base,
      role: z.literal("assistant"),
      run: id,
      model: z.string(),
      parts: listSchema(part),
      calls: listSchema(call),
      finish: z.enum(["stop", "calls", "length", "filtered", "paused", "interrupted", "error"]).optional(),
      error: z.string().optional(),
      usage: usage.optional(),
      cost: dollars.optional().describe("Cost of the answer. Absent if the price is unknown."),
      cacheMiss: cacheMiss.optional(),
    }),
    z.looseObject({
      ...base,
      role: z.literal("summary"),
      parts: listSchema(part),
      covers: id.optional(),
      ...behindSummary,
      usage: usage.optional(),
      cost: dollars.optional(),
    }),
  ]),
);
