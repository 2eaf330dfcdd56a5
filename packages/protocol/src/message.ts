import type { Message } from "@banyan/core/conversation";
import { z } from "zod";
import { about, behindSummary, broughtFile, fileChange, part, seenFile, usage, userPart } from "./parts.ts";
import { callId, count, dollars, id, json, list, schemaOf, time } from "./shapes.ts";

/** Changes of a file that a call is about to make, as far as the model has written them. */
const draft = z.object({
  index: count.describe("Counts the changes of one call, from 0."),
  path: z.string(),
  start: count.optional().describe("The first line that is replaced, from 1; absent for the whole file."),
  end: count.optional().describe("The first line behind those that are replaced."),
  text: z.string(),
});

/** A tool call, as it stands in its message. */
export const call = z.looseObject({
  id: callId,
  tool: z.string(),
  inputText: z.string().describe("What the model wrote, word for word."),
  via: z.string().optional().describe("The tool that the model called, when that is one that forwards to this."),
  input: json
    .optional()
    .describe("The arguments as they were checked; absent while they stream, and when they are no JSON."),
  about: about.optional(),
  executedInput: json.optional().describe("The arguments that ran, when a person changed them."),
  status: z.enum(["pending", "approval-requested", "executing", "completed", "failed", "denied", "cancelled"]),
  attempt: count.describe("How often it was started."),
  approved: z.boolean().optional().describe("What a person said of it."),
  progress: z.string().describe("The end of what the tool has said while it runs."),
  output: z.string().optional().describe("What the model is told; there once the call has ended."),
  files: list(broughtFile)
    .optional()
    .describe("Files that the model is shown with the output, without data where it was not told."),
  drafts: list(draft).optional(),
  changes: list(fileChange).optional(),
  seen: list(seenFile).optional().describe("Files that the call read, or found changed by what it ran."),
  startedAt: time.optional(),
  endedAt: time.optional(),
});

const base = {
  id,
  parentId: id.nullable(),
  call: callId.optional().describe("The call whose sub-agent the message belongs to."),
  createdAt: time,
  label: z.string().optional(),
  starred: z.boolean().optional(),
  removed: z.boolean().optional(),
  unreadable: z
    .string()
    .optional()
    .describe("Why it cannot be read, in one sentence; it has no parts then, and no request holds it."),
};

/** A message, whole: a node of the tree with everything that it says. */
export const message = schemaOf<Message>(
  z.discriminatedUnion("role", [
    z.looseObject({
      ...base,
      role: z.literal("user"),
      author: z.enum(["user", "tool", "system"]),
      parts: list(userPart),
      recalled: list(
        z.object({
          text: z.string(),
          source: z.string(),
          conversation: z.string().optional(),
          message: z.string().optional(),
          dismissed: z.literal(true).optional(),
        }),
      ).optional(),
      worktree: z.string().optional().describe("The name of the git worktree in which all below it works."),
    }),
    z.looseObject({
      ...base,
      role: z.literal("assistant"),
      run: id,
      model: z.string(),
      parts: list(part),
      calls: list(call),
      finish: z.enum(["stop", "calls", "length", "filtered", "paused", "interrupted", "error"]).optional(),
      error: z.string().optional(),
      usage: usage.optional(),
      cost: dollars.optional().describe("US dollars; absent when the price is unknown."),
    }),
    z.looseObject({
      ...base,
      role: z.literal("summary"),
      parts: list(part),
      covers: id.optional(),
      ...behindSummary,
      usage: usage.optional(),
      cost: dollars.optional(),
    }),
  ]),
);
