import { ID_PATTERN, ID_RULE } from "@banyan/core/conversation";
import { z } from "zod";

// The facts of a log as JSON has them: what an import checks, and what the command publishes as the schema of its output.

const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();
const count = z.int().min(0);
const time = z.number().describe("Milliseconds since 1970.");

/**
 * A name of a conversation, a message, a run, a command ...: what `isId` of `@banyan/core/conversation` takes. `createId()`
 * makes one.
 */
export const id = z
  .string()
  .regex(ID_PATTERN, `expected ${ID_RULE}`)
  .refine((text) => text.isWellFormed(), `expected ${ID_RULE}, in Unicode whose surrogates come in pairs`)
  .describe("Any text of 1 to 128 characters, none of them a control character, but `.` and `..`.");

/** A text of so many characters: code points, as JSON Schema counts. With `most` alone, it may be empty. */
export function text(least: number, most: number): z.ZodType<string, string> {
  const problem = `expected ${least === 0 ? "at most" : `${least} to`} ${most.toLocaleString("en")} characters`;
  const fits = (given: string) => given.length >= least && (given.length <= most || Array.from(given).length <= most);
  return z
    .string()
    .refine(fits, problem)
    .meta({ ...(least > 0 && { minLength: least }), maxLength: most });
}

/** The id of a call, which a provider may have made. */
export const callId = text(1, 512).describe("An id that a model's provider may have made.");

const json = z.unknown().describe("Any JSON.");

/** US dollars. */
export const dollars = z.number().min(0);

/** Tokens of one or more model calls. */
export const usage = z.object({
  input: count.describe("Tokens of the requests, cached ones included."),
  cached: count.describe("The part of input that was read from the provider's cache."),
  cacheWrite: count.describe("The part of input that was written to the provider's cache."),
  output: count.describe("Tokens of the answers, reasoning included."),
  reasoning: count.describe("The part of output that was reasoning."),
});

const provider = z
  .record(z.string(), z.record(z.string(), json))
  .optional()
  .describe("What the provider wants to see again.");
const textPart = z.object({ type: z.literal("text"), text: z.string(), provider });
const filePart = z.object({
  type: z.literal("file"),
  mediaType: z.string(),
  name: z.string().optional(),
  data: z.string().optional().describe("Base 64."),
  url: z.string().optional(),
});

/** What a user message can hold. */
export const userPart = z.discriminatedUnion("type", [textPart, filePart]);

/** What an answer can hold. */
export const part = z.discriminatedUnion("type", [
  textPart,
  filePart,
  z.object({ type: z.literal("reasoning"), text: z.string(), provider }),
  z.object({ type: z.literal("call"), call: callId, provider }),
  z.object({ type: z.literal("source"), url: z.string(), title: z.string().optional() }),
  z.object({
    type: z.literal("provider"),
    text: z.string().describe("What the provider did on its side."),
    provider: provider.unwrap(),
  }),
]);

const digest = z.string().nullable().describe("SHA-256 of the file's bytes in hexadecimal; null when there is none.");

/** A change of a file. */
export const fileChange = z.object({
  path: z.string().describe("Relative to the workspace."),
  kind: z.enum(["created", "changed", "deleted"]),
  before: digest,
  after: digest,
  added: count.describe("Lines."),
  removed: count.describe("Lines."),
  diff: z.string().describe("Unified, cut at 64 KiB; empty for a file that is no text."),
});

/** What a call is about, as its tool says. */
export const about = z.object({
  title: z.string().optional().describe("In a few words."),
  command: z.string().optional().describe("The program text that it runs."),
  paths: list(z.object({ path: z.string(), access: z.enum(["read", "write"]) })).optional(),
  url: z.string().optional().describe("The address that it asks."),
  change: z
    .object({ goes: z.string().optional(), comes: z.string() })
    .optional()
    .describe("The names of the arguments with text that goes from a file, and that comes into it."),
});

/** What a call would do, worked out before a person is asked. */
export const preview = z.object({
  changes: list(fileChange).optional().describe("What would become of files."),
  notes: list(z.string()).optional().describe("What a person should know before they decide."),
});

const messageOf = { message: id };
const callOf = { message: id, call: callId };
const saidOf = {
  ...callOf,
  tool: z.string().optional().describe("Absent, as input is, in logs from before events of calls said it."),
  input: json
    .optional()
    .describe("What ran, or was to run, as it was checked. Absent too when the model wrote no JSON."),
};
const output = z.string().describe("What the model is told.");
const delivery = z.enum(["steer", "queue", "interrupt"]).describe("How it reaches the run.");
const userParts = list(userPart);

/** The schemas of all events of this version, each with the properties of `head` before its own. */
export function eventSchemas<const Head extends z.ZodRawShape>(head: Head) {
  const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
    z.object({ ...head, type: z.literal(type), ...shape, at: time });
  return [
    event("conversation.created", { id, labels: z.record(z.string(), z.string()) }),
    event("conversation.brought-in", { how: z.enum(["import", "file"]) }),
    event("content.stored", { digest: z.string(), text: z.string() }),
    event("message.added", {
      ...messageOf,
      parentId: id.nullable(),
      role: z.enum(["user", "summary"]),
      author: z.enum(["user", "tool", "system"]).optional(),
      parts: userParts,
      call: callId.optional().describe("The call that launched the sub-agent whose first message this is."),
      covers: id.optional(),
      run: id.optional().describe("The live run that put it at the end of its branch."),
      usage: usage.optional(),
      cost: dollars.optional(),
    }),
    event("memory.recalled", {
      ...messageOf,
      items: list(
        z.object({
          text: z.string(),
          source: z.string(),
          kind: z.enum(["said", "fact", "summary"]).optional(),
          role: z.enum(["user", "assistant"]).optional(),
          at: time.optional(),
          conversation: id.optional(),
          message: id.optional(),
          dismissed: z.literal(true).optional(),
        }),
      ),
    }),
    event("message.started", { ...messageOf, parentId: id.nullable(), run: id, model: z.string() }),
    event("message.checkpoint", {
      ...messageOf,
      parts: list(
        z.object({
          index: count.describe("Which part of the message it is, from 0."),
          type: z.enum(["text", "reasoning"]),
          offset: count.describe("UTF-16 units of the part that are in the log already."),
          text: z.string().describe("What came behind them."),
        }),
      ).describe("The text since the checkpoint before."),
    }),
    event("message.completed", {
      ...messageOf,
      parts: list(part),
      finish: z.enum(["stop", "calls", "length", "filtered", "paused", "interrupted", "error"]),
      usage,
      cost: dollars.optional(),
      error: z.string().optional(),
    }),
    event("message.abandoned", { ...messageOf, reason: z.string(), usage: usage.optional(), cost: dollars.optional() }),
    event("call.pending", {
      ...callOf,
      tool: z.string(),
      inputText: z.string(),
      input: json.optional(),
      about: about.optional(),
    }),
    event("call.approval-requested", {
      ...saidOf,
      question: id,
      pattern: z.string().optional(),
      preview: preview.optional(),
    }),
    event("call.approval-resolved", {
      ...callOf,
      question: id,
      allowed: z.boolean(),
      remember: z.object({ pattern: z.string(), scope: z.enum(["conversation", "always"]) }).optional(),
      input: json.optional(),
    }),
    event("call.executing", { ...callOf, tool: saidOf.tool, attempt: z.int().min(1), key: z.string() }),
    event("call.completed", { ...saidOf, output }),
    event("call.failed", { ...saidOf, output }),
    event("call.denied", { ...saidOf, output }),
    event("call.cancelled", { ...saidOf, output }),
    event("call.following", { ...callOf, run: id }),
    event("call.followed", { ...callOf, outcome: z.enum(["completed", "dropped"]), reason: z.string().optional() }),
    event("file.changed", { ...callOf, ...fileChange.shape }),
    event("question.asked", {
      ...callOf,
      question: id,
      text: z.string(),
      choices: list(z.string()).optional(),
      default: z.string().optional(),
    }),
    event("question.answered", { question: id, text: z.string().optional() }),
    event("run.started", {
      run: id,
      agent: z.string(),
      model: z.string(),
      settings: json,
      limits: json,
      mode: z.enum(["chat", "task"]),
      instructions: z.string().describe("The digest of a content.stored."),
      tools: z.string().describe("The digest of a content.stored."),
      leaf: id.nullable(),
      call: callId.optional().describe("The call that launched it, when it is the run of a sub-agent."),
    }),
    event("run.paused", { run: id, question: id, reason: z.string() }),
    event("run.continued", { run: id, question: id, allowed: z.boolean() }),
    event("run.ended", {
      run: id,
      reason: z.enum(["answered", "finished", "limit", "failed", "interrupted"]),
      leaf: id.nullable(),
      error: z.object({ code: z.string(), message: z.string() }).optional(),
    }),
    event("input.queued", {
      input: id,
      parts: userParts,
      delivery,
      run: id.nullable(),
    }),
    event("input.edited", {
      input: id,
      parts: userParts.optional(),
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
      purpose: z.enum(["title", "summary"]),
      model: z.string(),
      usage,
      cost: dollars.optional(),
    }),
  ] as const;
}
