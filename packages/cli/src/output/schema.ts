import {
  cacheMiss,
  count,
  deltaSchemas,
  dollars,
  eventSchemas,
  listSchema,
  noticeSchemas,
  usage,
} from "@banyan/protocol";
import { z } from "zod";
import { exitCodes } from "../program/exit.ts";

// Schemas of the JSON that `--print` writes (T33). Only tests and the generator of docs/output.schema.json run this
// module; the command uses only its types.

const id = z.string();

const seq = z.int().min(1).describe("Number of this output line. The first line has 1.");

const resultShape = {
  reason: z
    .enum(["answered", "finished", "denied", "limit", "failed", "interrupted", "usage"])
    .describe("denied: answered, but a call was denied. usage: the command line is wrong, so nothing was asked."),
  exitCode: z.literal(Object.values(exitCodes)),
  text: z.string().describe("Text of the last answer. Empty if there is no answer."),
  conversation: id.nullable().describe("Id for --resume; null if no conversation was opened."),
  model: z.string().nullable().describe("provider/model; null if no model was chosen."),
  steps: count.describe("Number of answered model calls."),
  usage,
  cacheMisses: listSchema(cacheMiss).describe(
    "The cache misses of the turn's model calls, and of its sub-agents' model calls.",
  ),
  cost: dollars.nullable().describe("US dollars; null if a price is unknown."),
  duration: count.describe("Milliseconds since the start of the command."),
  denied: listSchema(z.object({ tool: z.string(), reason: z.string() })).describe("The tool calls that were denied."),
  error: z
    .object({ code: z.string(), message: z.string().describe("The problem, in one or two sentences for a user.") })
    .nullable()
    .describe("The reason why there is no answer, or only a part of an answer."),
};

/** The output of `banyan --print --output json`. */
export const resultSchema = z
  .object({ type: z.literal("result"), ...resultShape })
  .describe("The output of banyan --print --output json.");

/** A line of `banyan --print --output jsonl`. The last line is always a `result`. */
export const lineSchema = z
  .discriminatedUnion("type", [
    ...eventSchemas({ seq }),
    ...deltaSchemas({ seq }),
    ...noticeSchemas({ seq }),
    z.object({ seq, type: z.literal("result"), ...resultShape }),
  ])
  .describe("A line of banyan --print --output jsonl. The last line is always of type result.");

/** Returns the JSON Schema of `resultSchema` and `lineSchema`, which docs/output.schema.json publishes. */
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
  // Readers must accept properties of newer versions.
  return z.toJSONSchema(schema, { io: "input" });
}
