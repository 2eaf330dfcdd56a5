import { z } from "zod";
import { exitCodes } from "../exit.ts";

// The published form of what `--print` writes as JSON (T33). Only tests and the generator of docs/output.schema.json run
// this; the command itself needs its types alone.

const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();
const count = z.int().min(0);
const time = z.number().describe("Milliseconds since 1970.");
const id = z.string();
const json = z.unknown().describe("Any JSON.");
const dollars = z.number().min(0);

const usage = z.object({
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
const part = z.discriminatedUnion("type", [
  textPart,
  filePart,
  z.object({ type: z.literal("reasoning"), text: z.string(), provider }),
  z.object({ type: z.literal("call"), call: id, provider }),
  z.object({ type: z.literal("source"), url: z.string(), title: z.string().optional() }),
  z.object({
    type: z.literal("provider"),
    text: z.string().describe("What the provider did on its side."),
    provider: provider.unwrap(),
  }),
]);

/** A line of `--output jsonl`. */
function line<Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) {
  return z.object({ seq: z.int().min(1).describe("The number of the line, from 1."), type: z.literal(type), ...shape });
}

/** A line that tells a fact of the conversation's log. */
function event<Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) {
  return line(type, { ...shape, at: time });
}

const messageOf = { message: id };
const callOf = { message: id, call: id };
const output = z.string().describe("What the model is told.");

const events = [
  event("conversation.created", { id, labels: z.record(z.string(), z.string()) }),
  event("content.stored", { digest: z.string(), text: z.string() }),
  event("message.added", {
    ...messageOf,
    parentId: id.nullable(),
    role: z.enum(["user", "summary"]),
    author: z.enum(["user", "tool", "system"]).optional(),
    parts: list(z.discriminatedUnion("type", [textPart, filePart])),
    covers: id.optional(),
  }),
  event("memory.recalled", { ...messageOf, items: list(z.object({ text: z.string(), source: z.string() })) }),
  event("message.started", { ...messageOf, parentId: id.nullable(), run: id, model: z.string() }),
  event("message.checkpoint", {
    ...messageOf,
    parts: list(z.object({ index: count, type: z.enum(["text", "reasoning"]), offset: count, text: z.string() })),
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
  event("call.pending", { ...callOf, tool: z.string(), inputText: z.string(), input: json.optional() }),
  event("call.approval-requested", { ...callOf, question: id, pattern: z.string().optional() }),
  event("call.approval-resolved", {
    ...callOf,
    question: id,
    allowed: z.boolean(),
    remember: z.object({ pattern: z.string(), scope: z.enum(["conversation", "always"]) }).optional(),
    input: json.optional(),
  }),
  event("call.executing", { ...callOf, attempt: z.int().min(1), key: z.string() }),
  event("call.completed", { ...callOf, output }),
  event("call.failed", { ...callOf, output }),
  event("call.denied", { ...callOf, output }),
  event("call.cancelled", { ...callOf, output }),
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
  }),
  event("run.paused", { run: id, question: id, reason: z.string() }),
  event("run.continued", { run: id, question: id, allowed: z.boolean() }),
  event("run.ended", {
    run: id,
    reason: z.enum(["answered", "finished", "limit", "failed", "interrupted"]),
    leaf: id.nullable(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
  }),
  event("title.changed", { title: z.string() }),
  event("model.changed", { model: z.string() }),
] as const;

const deltas = [
  line("text.delta", { ...messageOf, part: count, text: z.string() }),
  line("reasoning.delta", { ...messageOf, part: count, text: z.string() }),
  line("call.input.delta", { ...callOf, part: count, tool: z.string(), text: z.string() }),
  line("call.output.delta", { ...callOf, text: z.string() }),
] as const;

const notices = [
  line("model.retrying", {
    run: id,
    attempt: z.int().min(2),
    delay: z.number().describe("Milliseconds."),
    reason: z.string(),
  }),
  line("memory.skipped", { run: id, reason: z.string() }),
  line("callback.failed", { callback: z.string(), reason: z.string() }),
] as const;

const resultShape = {
  reason: z
    .enum(["answered", "denied", "limit", "failed", "interrupted", "usage"])
    .describe(
      "denied: answered, but a call was denied on the way. usage: nothing was asked, since the command line is wrong.",
    ),
  exitCode: z.literal(Object.values(exitCodes)),
  text: z.string().describe("The last answer; empty when there is none."),
  conversation: id.nullable().describe("For --resume; null when none was opened."),
  model: z.string().nullable().describe("provider/model; null when none was chosen."),
  steps: count.describe("Model calls that were answered."),
  usage,
  cost: dollars.nullable().describe("US dollars; null when a price is unknown."),
  duration: count.describe("Milliseconds since the command was started."),
  denied: list(z.object({ tool: z.string(), reason: z.string() })).describe("The calls that were denied."),
  error: z
    .object({ code: z.string(), message: z.string().describe("One or two sentences for a person.") })
    .nullable()
    .describe("Why there is no answer, or why it is not a whole one."),
};

/** What `--output json` writes. */
export const resultSchema = z
  .object({ type: z.literal("result"), ...resultShape })
  .describe("What --output json writes.");

/** What each line of `--output jsonl` holds. The last one is always a `result`. */
export const lineSchema = z
  .discriminatedUnion("type", [...events, ...deltas, ...notices, line("result", resultShape)])
  .describe("A line of --output jsonl. The last one is always of type result.");

/** The JSON Schema of both, as it is published in docs/output.schema.json. */
export function outputJsonSchema(): object {
  const { $schema, ...line } = jsonSchema(lineSchema);
  const { $schema: _, ...result } = jsonSchema(resultSchema);
  return {
    $schema,
    title: "Output of banyan --print",
    description: "--output json writes one result, --output jsonl lines. Newer versions may add properties and types.",
    anyOf: [{ $ref: "#/$defs/result" }, { $ref: "#/$defs/line" }],
    $defs: { result, line },
  };
}

function jsonSchema(schema: z.ZodType) {
  return z.toJSONSchema(schema, {
    // Programs that read the output must not trip over what a newer version adds.
    io: "input",
    override: ({ jsonSchema: made }) => {
      delete made.readOnly;
    },
  });
}
