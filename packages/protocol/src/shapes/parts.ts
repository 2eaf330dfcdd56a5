import {
  isBase64,
  isMediaType,
  isWebAddress,
  LONGEST_NAME,
  type QuestionField,
  type UserPart,
} from "@banyan/core/conversation";
import { z } from "zod";
import { callId, count, engineSchema, id, listSchema, textSchema } from "./shapes.ts";

// Parts of messages and calls.

/** Schema of the effect of a summary on the next request. */
export const compaction = z.object({
  messages: count.describe("Messages that the model no longer sees."),
  before: count.describe("Tokens of the next request without the summary, about."),
  after: count.describe("Tokens of the next request with the summary, about."),
  size: count.optional().describe("Tokens of the model's context, if that is known."),
});

/** Fields for the words and the state that the program keeps with a summary. */
export const behindSummary = {
  kept: listSchema(
    z.object({
      message: id,
      characters: count.optional().describe("Shown UTF-16 units, if cut."),
    }),
  )
    .optional()
    .describe("Covered user messages that the model still sees."),
  leftOut: count.optional().describe("Number of covered user messages that the model does not see."),
  state: z.string().optional().describe("State of work at that time, for the model."),
  compaction: compaction.optional().describe("Effect on the next request, for users."),
  note: z.string().optional().describe("Note that work continues, and how to read covered messages."),
  shortened: listSchema(
    z.union([
      z.object({ call: callId, text: z.string().describe("Its result for the model.") }),
      z.object({ message: id, text: z.string().describe("Replacement for the model.") }),
    ]),
  )
    .optional()
    .describe("Calls above it with shortened results, and user messages that were too large."),
};

/** Field of a question about a run, and of its answer. */
export const offers = z.literal("file").optional().describe("Not a limit: allow stores a too large message as a file.");

/** Any JSON, passed on unchecked. */
export const anyJson = z.unknown().describe("Any JSON.");

/** Tokens of one or more model calls. */
export const usage = z.object({
  input: count.describe("Tokens of the requests, cached ones included."),
  cached: count.describe("The part of input that was read from the provider's cache."),
  cacheWrite: count.describe("The part of input that was written to the provider's cache."),
  output: count.describe("Tokens of the answers, reasoning included."),
  reasoning: count.describe("The part of output that was reasoning."),
});

const provider = z
  .record(z.string(), z.record(z.string(), anyJson))
  .optional()
  .describe("Data to return to the provider.");
const textPart = z.object({ type: z.literal("text"), text: z.string(), provider });
const filePart = z.object({
  type: z.literal("file"),
  mediaType: z.string(),
  name: z.string().optional(),
  data: z.string().optional().describe("Base 64."),
  url: z.string().optional(),
});

/** Schema of a file in a call's result. */
export const broughtFile = filePart.extend({
  digest: z.string().describe("Digest of its base 64, as in the log."),
});

/** A part of a user message in a log. A newer version may have added fields. */
export const userPart = z.discriminatedUnion("type", [textPart, filePart]);

/**
 * A part of a message from a client: the shape that `readUserContent` of core accepts. The bytes are checked in one
 * pass, because a file may have 20 MB.
 */
export const saidPart = engineSchema<UserPart>(
  z.discriminatedUnion("type", [
    z.strictObject(textPart.shape),
    z
      .strictObject({
        type: z.literal("file"),
        mediaType: z.string().refine(isMediaType, "expected type/subtype, such as image/png").meta({ maxLength: 200 }),
        name: textSchema(0, LONGEST_NAME).optional(),
        data: z.string().refine(isBase64, "expected base 64").meta({ format: "base64", minLength: 4 }).optional(),
        url: z.string().refine(isWebAddress, "expected an address of http or https").meta({ format: "uri" }).optional(),
      })
      .refine(({ data, url }) => (data === undefined) !== (url === undefined), "expected either data or url"),
  ]),
);

/** A part of an answer. */
export const part = z.discriminatedUnion("type", [
  textPart,
  filePart,
  z.object({ type: z.literal("reasoning"), text: z.string(), provider }),
  z.object({ type: z.literal("call"), call: callId, provider }),
  z.object({ type: z.literal("source"), url: z.string(), title: z.string().optional() }),
  z.object({
    type: z.literal("provider"),
    text: z.string().describe("The provider's own item."),
    provider: provider.unwrap(),
  }),
]);

const digest = z.string().nullable().describe("SHA-256 of the file's bytes in hexadecimal; null when there is none.");

const mode = z
  .string()
  .nullable()
  .describe("As in 100755; 120000 for a link, whose content is its target; null when there is no file.");

/** Schema of a file change. */
export const fileChange = z.object({
  path: z.string().describe("Relative to the workspace."),
  kind: z.enum(["created", "changed", "deleted"]),
  before: digest,
  after: digest,
  added: count.describe("Lines."),
  removed: count.describe("Lines."),
  diff: z.string().describe("Unified diff, cut at 64 KiB; empty for binary files."),
  mode: z
    .object({ before: mode, after: mode })
    .optional()
    .describe("Modes in octal digits, like git; absent if unchanged."),
});

/** A file as a call saw it. */
export const seenFile = z.object({ path: z.string().describe("Relative to the workspace."), digest });

/** Schema of the subject of a call, as described by its tool. */
export const about = z.object({
  offered: z
    .object({ server: z.string(), tool: z.string() })
    .optional()
    .describe("The MCP server that offers the tool, and the name of the tool there."),
  title: z.string().optional().describe("In a few words."),
  folder: z.string().optional().describe("The absolute path of the folder that the call works in."),
  command: z.string().optional().describe("The program text that it runs."),
  paths: listSchema(z.object({ path: z.string(), access: z.enum(["read", "write"]) })).optional(),
  url: z.string().optional().describe("The address that it asks."),
  untold: z
    .enum(["command", "files", "act"])
    .optional()
    .describe("The unknown part: the command, the files, or the act."),
  change: z
    .object({ goes: z.string().optional(), comes: z.string() })
    .optional()
    .describe("Names of the arguments with removed and added text."),
  looksAt: z
    .object({ one: z.string(), several: z.string() })
    .optional()
    .describe("For a call that only reads: its subject in singular and plural."),
  agent: z.string().optional().describe("The named agent that gets a task."),
  result: z.string().optional().describe("For a call that ends a task: the name of the result argument."),
  plan: listSchema(z.object({ title: z.string(), status: z.enum(["pending", "in_progress", "completed"]) }))
    .optional()
    .describe("The plan as it is from this call on, whole, once the call has completed."),
  handsIn: z.boolean().optional().describe("The plan is presented: with approval plan, a user decides."),
});

/** The approval mode in which an allowed plan is carried out. */
export const planApproval = z.enum(["ask", "edits"]);

/** Schema of a call's predicted effects, worked out before a user is asked. */
export const preview = z.object({
  changes: listSchema(fileChange).optional().describe("Changes of files that it would make."),
  notes: listSchema(z.string()).optional().describe("Notes for the user's decision."),
});

/** Schema of one field of a question. Chosen labels and words make up the text of the answer. */
export const questionField = engineSchema<QuestionField>(
  z.object({
    heading: z.string(),
    text: z.string(),
    choices: listSchema(z.object({ label: z.string(), description: z.string().optional() })),
    several: z.boolean().optional().describe("Allows several choices."),
  }),
);
