import { dollars, eventSchemas, usage } from "@banyan/host/exchange";
import { z } from "zod";
import { exitCodes } from "../exit.ts";

// The published form of what `--print` writes as JSON (T33). Only tests and the generator of docs/output.schema.json run
// this; the command itself needs its types alone.

const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();
const count = z.int().min(0);
const id = z.string();

const seq = z.int().min(1).describe("The number of the line, from 1.");

/** A line of `--output jsonl`. */
function line<Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) {
  return z.object({ seq, type: z.literal(type), ...shape });
}

const messageOf = {
  message: id,
  run: id,
  agent: z.string().describe("The name of the agent that the run is of."),
  depth: count.describe("0 for the agent that was asked, 1 for its sub-agents, 2 for theirs."),
};
const callOf = { ...messageOf, call: id };

const begins = count.optional().describe("Where in the part the text begins, in UTF-16 units.");

const deltas = [
  line("text.delta", { ...messageOf, part: count, begins, text: z.string() }),
  line("reasoning.delta", { ...messageOf, part: count, begins, text: z.string() }),
  line("call.input.delta", { ...callOf, part: count, tool: z.string(), text: z.string() }),
  line("call.output.delta", { ...callOf, text: z.string() }),
  line("call.draft.delta", {
    ...callOf,
    draft: count,
    path: z.string(),
    start: z.int().min(1).optional(),
    end: z.int().min(1).optional(),
    text: z.string(),
  }),
] as const;

const notices = [
  line("model.retrying", {
    run: id,
    attempt: z.int().min(2),
    delay: z.number().describe("Milliseconds."),
    nextAt: z.number().describe("When it is tried again, in milliseconds since 1970."),
    code: z.string(),
    status: z.int().optional().describe("HTTP status."),
    reason: z.string(),
  }),
  line("model.waiting", {
    run: id,
    message: id,
    time: z.number().describe("Milliseconds since the model said something, or was asked."),
    alive: z.boolean().describe("Whether its connection has shown life since the last time."),
  }),
  line("memory.skipped", { run: id, reason: z.string() }),
  line("context.shortening", { run: id, reason: z.string() }),
  line("context.not-shortened", { run: id, reason: z.string() }),
  line("callback.failed", { callback: z.string(), reason: z.string() }),
] as const;

const resultShape = {
  reason: z
    .enum(["answered", "finished", "denied", "limit", "failed", "interrupted", "usage"])
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
  .discriminatedUnion("type", [...eventSchemas({ seq }), ...deltas, ...notices, line("result", resultShape)])
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
