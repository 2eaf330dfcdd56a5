import type { Message } from "@banyan/core/conversation";
import { z } from "zod";
import { about, behindSummary, broughtFile, fileChange, part, seenFile, usage, userPart } from "./parts.ts";
import { callId, count, dollars, engineSchema, id, json, listSchema, time } from "./shapes.ts";

/** A planned change of a file, as far as the model has written it. */
const draft = z.object({
  index: count.describe("Counts the changes of one call, from 0."),
  path: z.string(),
  start: count.optional().describe("First replaced line, from 1; absent for the whole file."),
  end: count.optional().describe("The first line after the replaced ones."),
  text: z.string(),
});

/** Schema of a tool call in its message. */
export const call = z.looseObject({
  id: callId,
  tool: z.string(),
  inputText: z.string().describe("The model's exact text."),
  via: z.string().optional().describe("The forwarding tool that the model called."),
  input: json.optional().describe("Checked arguments; absent while streaming, and if not JSON."),
  about: about.optional(),
  executedInput: json.optional().describe("Arguments that ran, if a user changed them."),
  status: z.enum(["pending", "approval-requested", "executing", "completed", "failed", "denied", "cancelled"]),
  attempt: count.describe("Number of starts."),
  approved: z.boolean().optional().describe("A user's answer."),
  progress: z.string().describe("Last progress of the running tool."),
  output: z.string().optional().describe("Text for the model; set when the call ends."),
  files: listSchema(broughtFile)
    .optional()
    .describe("Files for the model, in addition to the output; without data if not sent."),
  drafts: listSchema(draft).optional(),
  changes: listSchema(fileChange).optional(),
  seen: listSchema(seenFile).optional().describe("Files that the call read, or found changed by what it ran."),
  startedAt: time.optional(),
  endedAt: time.optional(),
});

const base = {
  id,
  parentId: id.nullable(),
  call: callId.optional().describe("The call that launched the message's sub-agent."),
  createdAt: time,
  label: z.string().optional(),
  starred: z.boolean().optional(),
  removed: z.boolean().optional(),
  unreadable: z
    .string()
    .optional()
    .describe("Why it is unreadable, in one sentence; it has no parts, and requests omit it."),
};

/** Schema of a complete message. */
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
          dismissed: z.literal(true).optional(),
        }),
      ).optional(),
      worktree: z.string().optional().describe("Git worktree of everything below it."),
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
      cost: dollars.optional().describe("US dollars; absent when the price is unknown."),
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
