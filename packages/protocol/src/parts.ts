import {
  isBase64,
  isMediaType,
  isWebAddress,
  LONGEST_NAME,
  type QuestionField,
  type UserPart,
} from "@banyan/core/conversation";
import { z } from "zod";
import { callId, count, id, list, schemaOf, text } from "./shapes.ts";

// What messages and calls are made of.

/** The effect of a summary on the next request. */
export const compaction = z.object({
  messages: count.describe("Messages that the model is shown no more."),
  before: count.describe("Tokens of the next request without the summary, about."),
  after: count.describe("Tokens of the next request with the summary, about."),
  size: count.optional().describe("Tokens of the model's context, if that is known."),
});

/** Fields for the words and the state that the program keeps behind a summary. */
export const behindSummary = {
  kept: list(
    z.object({
      message: id,
      characters: count.optional().describe("UTF-16 units of its words that are shown, when these are cut."),
    }),
  )
    .optional()
    .describe("User messages that the summary covers and whose words the model is still shown."),
  leftOut: count.optional().describe("How many user messages it covers whose words the model is not shown."),
  state: z.string().optional().describe("What the program knew of the branch then, in words for the model."),
  compaction: compaction.optional().describe("What the summary made of the next request, for users."),
  note: z.string().optional().describe("That the work continues, and how the model reads what is covered."),
  shortened: list(
    z.union([
      z.object({ call: callId, text: z.string().describe("What the model is shown of its result.") }),
      z.object({ message: id, text: z.string().describe("What the model is shown in its place.") }),
    ]),
  )
    .optional()
    .describe("Calls above it whose results the model is shown shortened, and user messages that were too large."),
};

/** Of a question about a run, and of its answer. */
export const offers = z
  .literal("file")
  .optional()
  .describe("The run is at no limit: allow stores a message that is too large for the model as a file.");

/** Any JSON. It is passed on without being looked through. */
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
  .describe("What the provider wants to see again.");
const textPart = z.object({ type: z.literal("text"), text: z.string(), provider });
const filePart = z.object({
  type: z.literal("file"),
  mediaType: z.string(),
  name: z.string().optional(),
  data: z.string().optional().describe("Base 64."),
  url: z.string().optional(),
});

/** A file that a call brought with its output. */
export const broughtFile = filePart.extend({
  digest: z.string().describe("Of its bytes in base 64, as the log names them."),
});

/** What a user message of a log can hold. A newer version may have added fields. */
export const userPart = z.discriminatedUnion("type", [textPart, filePart]);

/**
 * A piece of what a user says: the shape that `readUserContent` of core takes as it is. The bytes are looked at in one pass,
 * since a file may have 20 MB.
 */
export const saidPart = schemaOf<UserPart>(
  z.discriminatedUnion("type", [
    z.strictObject(textPart.shape),
    z
      .strictObject({
        type: z.literal("file"),
        mediaType: z.string().refine(isMediaType, "expected type/subtype, such as image/png").meta({ maxLength: 200 }),
        name: text(0, LONGEST_NAME).optional(),
        data: z.string().refine(isBase64, "expected base 64").meta({ format: "base64", minLength: 4 }).optional(),
        url: z.string().refine(isWebAddress, "expected an address of http or https").meta({ format: "uri" }).optional(),
      })
      .refine(({ data, url }) => (data === undefined) !== (url === undefined), "expected either data or url"),
  ]),
);

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

const mode = z
  .string()
  .nullable()
  .describe("As in 100755; 120000 for a link, whose content is its target; null when there is no file.");

/** A change of a file. */
export const fileChange = z.object({
  path: z.string().describe("Relative to the workspace."),
  kind: z.enum(["created", "changed", "deleted"]),
  before: digest,
  after: digest,
  added: count.describe("Lines."),
  removed: count.describe("Lines."),
  diff: z.string().describe("Unified, cut at 64 KiB; empty for a file that is no text."),
  mode: z
    .object({ before: mode, after: mode })
    .optional()
    .describe("The modes in octal digits, as git writes them; absent when the change left the mode alone."),
});

/** A file as a call saw it. */
export const seenFile = z.object({ path: z.string().describe("Relative to the workspace."), digest });

/** What a call is about, as its tool says. */
export const about = z.object({
  offered: z
    .object({ server: z.string(), tool: z.string() })
    .optional()
    .describe("The MCP server that offers the tool, and the name of the tool there."),
  title: z.string().optional().describe("In a few words."),
  folder: z.string().optional().describe("The absolute path of the folder that the call works in."),
  command: z.string().optional().describe("The program text that it runs."),
  paths: list(z.object({ path: z.string(), access: z.enum(["read", "write"]) })).optional(),
  url: z.string().optional().describe("The address that it asks."),
  untold: z
    .enum(["command", "files", "act"])
    .optional()
    .describe("What the caller does not tell of the call: the command, the files, or what the call does at all."),
  change: z
    .object({ goes: z.string().optional(), comes: z.string() })
    .optional()
    .describe("The names of the arguments with text that goes from a file, and that comes into it."),
  looksAt: z
    .object({ one: z.string(), several: z.string() })
    .optional()
    .describe("It only looks, and at what, in words: one of it, and several."),
  agent: z.string().optional().describe("The named agent that it hands a task to."),
  result: z.string().optional().describe("It ends a task: the name of the argument that holds what came of it."),
  plan: list(z.object({ title: z.string(), status: z.enum(["pending", "in_progress", "completed"]) }))
    .optional()
    .describe("The plan as it is from this call on, whole, once the call has completed."),
  handsIn: z
    .boolean()
    .optional()
    .describe("The plan is handed in: where approval is plan, a person decides whether it is carried out."),
});

/** With which approval a plan is carried out that a person allowed. */
export const planApproval = z.enum(["ask", "edits"]);

/** What a call would do, worked out before a person is asked. */
export const preview = z.object({
  changes: list(fileChange).optional().describe("What would become of files."),
  notes: list(z.string()).optional().describe("What a person should know before they decide."),
});

/** One of the things that a question asks at once: what of them was chosen, and words, make the text of its answer. */
export const questionField = schemaOf<QuestionField>(
  z.object({
    heading: z.string(),
    text: z.string(),
    choices: list(z.object({ label: z.string(), description: z.string().optional() })),
    several: z.boolean().optional().describe("Any number of them may be chosen; else one."),
  }),
);
