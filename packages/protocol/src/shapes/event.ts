import { z } from "zod";
import {
  about,
  anyJson,
  askedGoal,
  behindSummary,
  broughtFile,
  cacheMiss,
  fileChange,
  goalResult,
  offers,
  part,
  preview,
  questionField,
  seenFile,
  usage,
  userPart,
} from "./parts.ts";
import { callId, count, dollars, id, listSchema, time } from "./shapes.ts";

// The events of a log in JSON, for imports, for clients, and for the output of `--print`.

const messageOf = { message: id };
const callOf = { message: id, call: callId };
const saidOf = {
  ...callOf,
  tool: z.string().optional().describe("Name of the tool. Absent in logs that older versions wrote."),
  input: anyJson
    .optional()
    .describe("The checked arguments. Absent in logs of older versions, and if the model wrote no JSON."),
};
const output = z.string().describe("The result, as text for users and the model.");
const ended = {
  ...saidOf,
  output,
  modelOutput: z.string().optional().describe("Text that the model gets in place of `output`."),
  files: listSchema(broughtFile.omit({ type: true, data: true, url: true }))
    .optional()
    .describe("More files for the model. The digest of each file is in an earlier `content.stored` event."),
  seen: listSchema(seenFile).optional().describe("Files that the call read, or that its command changed."),
  changedFiles: count
    .optional()
    .describe(
      "Number of changed files for which there is no `file.changed` event, such as files that a command changed.",
    ),
};
const delivery = z.enum(["steer", "queue", "interrupt"]).describe("Delivery of the input to the run.");
const userParts = listSchema(userPart);
const unreadable = z.string().optional().describe("Reason why the parts are unreadable. Then `parts` is empty.");

/**
 * Returns the schemas of all events of this version, each with the properties of `head` first.
 * @example const logged = z.discriminatedUnion("type", eventSchemas({ conversation: z.string() }));
 */
export function eventSchemas<const Head extends z.ZodRawShape>(head: Head) {
  const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
    z.object({ ...head, type: z.literal(type), ...shape, at: time });
  return [
    event("conversation.created", { id, labels: z.record(z.string(), z.string()) }),
    event("conversation.brought-in", { how: z.enum(["import", "file"]) }),
    event("content.stored", {
      digest: z.string(),
      text: z.string(),
      mediaType: z
        .string()
        .optional()
        .describe("Set for a file of a call: the media type of the file. `text` then has the file's bytes in base 64."),
    }),
    event("message.added", {
      ...messageOf,
      parentId: id.nullable(),
      role: z.enum(["user", "summary"]),
      author: z.enum(["user", "tool", "system"]).optional(),
      parts: userParts,
      unreadable,
      call: callId.optional().describe("For a sub-agent's first message: the call that launched the sub-agent."),
      worktree: z
        .string()
        .optional()
        .describe("Name of a git worktree. This message and all messages below it use the worktree."),
      covers: id.optional(),
      ...behindSummary,
      run: id.optional().describe("The live run that added the message."),
      usage: usage.optional(),
      cost: dollars.optional(),
    }),
    event("memory.recalled", {
      ...messageOf,
      items: listSchema(
        z.object({
          text: z.string(),
          source: z.string(),
          kind: z.enum(["said", "fact", "summary"]).optional(),
          role: z.enum(["user", "assistant"]).optional(),
          at: time.optional(),
          conversation: id.optional(),
          message: id.optional(),
          mark: z.string().optional().describe("Mark with which the model cites the entry, such as `m3`."),
          dismissed: z.literal(true).optional(),
        }),
      ),
    }),
    event("message.started", { ...messageOf, parentId: id.nullable(), run: id, model: z.string() }),
    event("message.checkpoint", {
      ...messageOf,
      parts: listSchema(
        z.object({
          index: count.describe("Index of the message part, from 0."),
          type: z.enum(["text", "reasoning"]),
          offset: count.describe("Length of the text that the log already has for this part, in UTF-16 units."),
          text: z.string().describe("The new text."),
        }),
      ).describe("Text since the last checkpoint."),
    }),
    event("message.completed", {
      ...messageOf,
      parts: listSchema(part),
      unreadable,
      finish: z.enum(["stop", "calls", "length", "filtered", "paused", "interrupted", "error"]),
      usage,
      cost: dollars.optional(),
      error: z.string().optional(),
      cacheMiss: cacheMiss.optional(),
    }),
    event("message.abandoned", { ...messageOf, reason: z.string(), usage: usage.optional(), cost: dollars.optional() }),
    event("call.pending", {
      ...callOf,
      tool: z.string(),
      inputText: z.string(),
      via: z
        .string()
        .optional()
        .describe(
          "Set if the model called a tool that forwarded the call: the name of that tool. `tool` is the tool that ran.",
        ),
      input: anyJson.optional(),
      about: about.optional(),
    }),
    event("call.approval-requested", {
      ...saidOf,
      question: id,
      pattern: z.string().optional(),
      preview: preview.optional(),
      survives: z
        .literal(false)
        .optional()
        .describe("Set if the question closes as soon as the process that asks it ends."),
    }),
    event("call.approval-resolved", {
      ...callOf,
      question: id,
      allowed: z.boolean(),
      remember: z.object({ pattern: z.string(), scope: z.enum(["conversation", "always"]) }).optional(),
      input: anyJson.optional(),
      byRule: z.literal(true).optional().describe("Set if a rule or a hook made the decision, not a user."),
    }),
    event("call.executing", {
      ...callOf,
      tool: saidOf.tool,
      attempt: z.int().min(1),
      key: z.string(),
      about: about.optional().describe("The subject of the call after a user has changed the arguments."),
    }),
    event("call.completed", ended),
    event("call.failed", ended),
    event("call.denied", ended),
    event("call.cancelled", ended),
    event("call.following", { ...callOf, run: id }),
    event("call.followed", { ...callOf, outcome: z.enum(["completed", "dropped"]), reason: z.string().optional() }),
    event("file.changed", { ...callOf, ...fileChange.shape }),
    event("process.started", { ...callOf, process: z.string().describe("`p1`, `p2`, and so on."), title: z.string() }),
    event("process.ended", {
      process: z.string(),
      outcome: z.string().describe("Outcome of the process, such as `exit code 7`."),
      known: z.literal(true).optional().describe("Set if the model already knows how the process ended."),
    }),
    event("question.asked", {
      ...callOf,
      question: id,
      text: z.string(),
      choices: listSchema(z.string()).optional(),
      fields: listSchema(questionField).optional().describe("Fields of a form, with choices."),
      default: z.string().optional(),
      survives: z
        .boolean()
        .optional()
        .describe(
          "What happens to the call if the process that asks ends. `true`: the call runs again and gets the answer. `false`: the outcome of the call is unknown. Absent: the question is closed.",
        ),
    }),
    event("question.answered", {
      question: id,
      text: z.string().optional(),
      reason: z.string().optional().describe("The user's reason for declining."),
      withdrawn: z.literal(true).optional().describe("Set if the question was withdrawn."),
    }),
    event("run.started", {
      run: id,
      agent: z.string(),
      model: z.string(),
      settings: anyJson,
      limits: anyJson,
      mode: z.enum(["chat", "task"]),
      instructions: z.string().describe("Digest that a `content.stored` event has stored the content under."),
      tools: z.string().describe("Digest that a `content.stored` event has stored the content under."),
      leaf: id.nullable(),
      call: callId.optional().describe("For a sub-agent's run: the call that launched the sub-agent."),
      processes: listSchema(z.string())
        .optional()
        .describe("Background processes that have ended. The first message of the run reports their end to the model."),
      continues: id
        .optional()
        .describe("An earlier run that ended as `waiting`. This run continues the earlier run's turn."),
      before: z
        .object({
          steps: count,
          usage,
          cost: dollars.optional(),
          time: count,
          grants: z.object({ own: count, all: count }),
          dearest: z.object({ tokens: count, cost: dollars }),
        })
        .optional()
        .describe(
          "Set if a hook started this turn: the usage of the earlier turns. This turn shares its limits with them.",
        ),
      goal: askedGoal.optional(),
    }),
    event("goal.checked", {
      run: id,
      outcome: z
        .enum(["done", "open", "failed"])
        .describe("`open`: the model continues. `failed`: the goal ends without being done."),
      results: listSchema(goalResult),
      times: count.describe("How many times in a row the same checks have failed in the same way."),
    }),
    event("run.paused", {
      run: id,
      question: id,
      reason: z.string(),
      offers,
      survives: z
        .literal(false)
        .optional()
        .describe("Set if the question closes as soon as the process that asks it ends."),
    }),
    event("run.continued", { run: id, question: id, allowed: z.boolean(), offers }),
    event("run.ended", {
      run: id,
      reason: z
        .enum(["answered", "finished", "limit", "failed", "interrupted", "waiting"])
        .describe("`waiting`: the process ended while a user was asked. Another run continues the turn."),
      leaf: id.nullable(),
      error: z.object({ code: z.string(), message: z.string() }).optional(),
      limit: z.string().optional(),
      spent: z.object({ steps: count, usage, cost: dollars.optional() }).optional(),
    }),
    event("input.queued", {
      input: id,
      parts: userParts,
      unreadable,
      delivery,
      run: id.nullable(),
    }),
    event("input.edited", {
      input: id,
      parts: userParts.optional(),
      unreadable,
      delivery: delivery.optional(),
      before: id.nullable().optional(),
      run: id.optional(),
    }),
    event("input.withdrawn", { input: id }),
    event("input.delivered", { input: id }),
    event("message.labelled", { ...messageOf, label: z.string().nullable() }),
    event("memory.dismissed", { ...messageOf, item: z.int().nonnegative(), dismissed: z.boolean() }),
    event("message.starred", { ...messageOf, starred: z.boolean() }),
    event("message.removed", messageOf),
    event("message.restored", messageOf),
    event("title.changed", { title: z.string() }),
    event("model.changed", { model: z.string() }),
    event("rule.revoked", { pattern: z.string() }),
    event("usage.counted", {
      purpose: z.enum(["title", "summary", "judge"]),
      model: z.string(),
      usage,
      cost: dollars.optional(),
    }),
  ] as const;
}
