import { count, deltaSchemas, dollars, eventSchemas, listSchema, noticeSchemas, usage } from "@banyan/protocol";
import { z } from "zod";
import { exitCodes } from "../program/exit.ts";

// Schemas of the JSON that `--print` writes (T33). Only tests and the generator of docs/output.schema.json run this
// module; the command uses only its types.

const id = z.string();

const seq = z.int().min(1).describe("The number of the line, from 1.");

const resultShape = {
  reason: z
    .enum(["answered", "finished", "denied", "limit", "failed", "interrupted", "usage"])
    .describe("denied: answered, but a call was denied. usage: the command line is wrong, so nothing was asked."),
  exitCode: z.literal(Object.values(exitCodes)),
  text: z.string().describe("The last answer; empty when there is none."),
  conversation: id.nullable().describe("For --resume; null when none was opened."),
  model: z.string().nullable().describe("provider/model; null when none was chosen."),
  steps: count.describe("Model calls that were answered."),
  usage,
  cost: dollars.nullable().describe("US dollars; null when a price is unknown."),
  duration: count.describe("Milliseconds since the command was started."),
  denied: listSchema(z.object({ tool: z.string(), reason: z.string() })).describe("The calls that were denied."),
  error: z
    .object({ code: z.string(), message: z.string().describe("One or two sentences for a user.") })
    .nullable()
    .describe("Why there is no answer, or only a part of one."),
};

/** Output of `--output json`. */
export const resultSchema = z
  .object({ type: z.literal("result"), ...resultShape })
  .describe("The output of --output json.");

/** A line of `--output jsonl`. The last line is always a `result`. */
export const lineSchema = z
  .discriminatedUnion("type", [
    ...eventSchemas({ seq }),
    ...deltaSchemas({ seq }),
    ...noticeSchemas({ seq }),
    z.object({ seq, type: z.literal("result"), ...resultShape }),
  ])
  .describe("A line of --output jsonl. The last one is always of type result.");

/** The JSON Schema of both, published as docs/output.schema.json. */
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
