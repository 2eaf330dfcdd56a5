import {
  cacheMissCauses,
  isBase64,
  isMediaType,
  isWebAddress,
  type LiveGoal,
  LONGEST_NAME,
  type QuestionField,
  type UserPart,
} from "@banyan/core/conversation";
import { z } from "zod";
import { callId, count, engineSchema, id, listSchema, textSchema } from "./shapes.ts";

export const compaction = z.object({
  messages: count.describe("Number of messages that the model no longer sees."),
  before: count.describe("Approximate tokens of the next request without the summary."),
  after: count.describe("Approximate tokens of the next request with the summary."),
  size: count.optional().describe("Size of the model's context in tokens. Absent if unknown."),
});

export const behindSummary = {
  kept: listSchema(
    z.object({
      message: id,
      characters: count
        .optional()
        .describe(
          "Length of the part of the message that the model sees, in UTF-16 units. Absent if the model sees the whole message.",
        ),
    }),
  )
    .optional()
    .describe("User messages that the summary covers and that the model still sees."),
  leftOut: count
    .optional()
    .describe("Number of user messages that the summary covers and that the model no longer sees."),
  state: z.string().optional().describe("Text that tells the model the state of the work."),
  compaction: compaction.optional().describe("How much shorter the summary makes the next request. Shown to users."),
  note: z
    .string()
    .optional()
    .describe(
      "Text that tells the model that the work continues, and how to read the messages that the summary covers.",
    ),
  shortened: listSchema(
    z.union([
      z.object({ call: callId, text: z.string().describe("The shortened result, as the model sees it.") }),
      z.object({ message: id, text: z.string().describe("The text that the model sees in place of the message.") }),
    ]),
  )
    .optional()
    .describe(
      "Texts that the model gets in place of longer texts. With `call`, the text is the shortened result of a call that is earlier in the conversation than the summary. With `message`, the text replaces a user message that was too large.",
    ),
};

export const offers = z
  .literal("file")
  .optional()
  .describe(
    "Set if the question is about a message that is too large. The decision `allow` stores the message as a file. Otherwise, the question is about a limit of the run.",
  );

export const anyJson = z.unknown();

/**
 * Schema of the tokens of one or more model calls.
 * @example usage.parse({ input: 10, cached: 0, cacheWrite: 0, output: 5, reasoning: 0 }).output // 5
 */
export const usage = z.object({
  input: count.describe("Tokens of the requests, including cached tokens."),
  cached: count.describe("Tokens of `input` that the provider read from its cache."),
  cacheWrite: count.describe("Tokens of `input` that the provider wrote to its cache."),
  output: count.describe("Tokens of the answers, including reasoning."),
  reasoning: count.describe("Tokens of `output` that the model used for reasoning."),
});

/**
 * Schema of a part of a request that the provider's cache could have had.
 * @example cacheMiss.parse({ cause: "tools", tokens: 4_000 }).cause // "tools"
 */
export const cacheMiss = z.object({
  cause: z.enum(cacheMissCauses).describe("`pause`: a too long pause. `provider`: no other cause is known."),
  tokens: count.describe("Tokens that the provider read again because they were not in its cache."),
});

const provider = z
  .record(z.string(), z.record(z.string(), anyJson))
  .optional()
  .describe("Data of the provider. Later requests send this data back to the provider.");
const textPart = z.object({ type: z.literal("text"), text: z.string(), provider });
const filePart = z.object({
  type: z.literal("file"),
  mediaType: z.string(),
  name: z.string().optional(),
  data: z.string().optional().describe("The bytes of the file in base 64."),
  url: z.string().optional(),
});

export const broughtFile = filePart.extend({
  digest: z.string().describe("Digest of the file's base 64, as in the log."),
});

/** Schema of a part of a user message. Accepts fields that newer versions added. */
export const userPart = z.discriminatedUnion("type", [textPart, filePart]);

/**
 * A part of a message from a client, in a form that `readUserContent` accepts. Checks the bytes in one pass, because a
 * file can have 20 MB.
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

export const part = z.discriminatedUnion("type", [
  textPart,
  filePart,
  z.object({ type: z.literal("reasoning"), text: z.string(), provider }),
  z.object({ type: z.literal("call"), call: callId, provider }),
  z.object({ type: z.literal("source"), url: z.string(), title: z.string().optional() }),
  z.object({
    type: z.literal("provider"),
    text: z.string().describe("The item, in the provider's own format."),
    provider: provider.unwrap(),
  }),
]);

const digest = z
  .string()
  .nullable()
  .describe("SHA-256 of the file's bytes in hexadecimal. `null` if there is no file.");

const mode = z
  .string()
  .nullable()
  .describe(
    "File mode, such as `100755`. A symbolic link has the mode `120000`, and its content is the path to which it points. `null` if there is no file.",
  );

export const fileChange = z.object({
  path: z.string().describe("Path relative to the workspace."),
  kind: z.enum(["created", "changed", "deleted"]),
  before: digest,
  after: digest,
  added: count.describe("Number of lines."),
  removed: count.describe("Number of lines."),
  diff: z.string().describe("Unified diff, cut at 64 KiB. Empty for binary files."),
  mode: z
    .object({ before: mode, after: mode })
    .optional()
    .describe("File modes in octal digits, as in git. Absent if unchanged."),
  formatter: z
    .string()
    .optional()
    .describe("The formatter that made this change, after the call had changed the file."),
});

export const seenFile = z.object({ path: z.string().describe("Path relative to the workspace."), digest });

const askedGoalFields = {
  id: z.string().describe("Id of the goal. All runs that pursue the goal have the same id here."),
  checks: listSchema(z.string()).describe("The conditions of the goal, in words."),
  asked: anyJson.optional().describe("The goal in the words of the user."),
};

export const askedGoal = z
  .object(askedGoalFields)
  .describe("The goal of the turn. The goal is reached only if all checks pass.");

export const goalResult = z.object({
  what: z.string().describe("The condition that was checked, in words."),
  passed: z.boolean(),
  why: z
    .string()
    .optional()
    .describe("The reason for the outcome of the check, such as the last lines of a command's output."),
  changed: listSchema(z.string())
    .optional()
    .describe("Files that have changed since the goal began, if they are tests or decide how the tests run."),
});

/** The goal of a live or broken turn, with the last results. */
export const liveGoal = engineSchema<LiveGoal>(
  z.looseObject({ ...askedGoalFields, results: listSchema(goalResult).optional(), times: count.optional() }),
);

export const about = z.object({
  offered: z
    .object({ server: z.string(), tool: z.string() })
    .optional()
    .describe("The MCP server of the tool, and the tool's name on that server."),
  title: z.string().optional().describe("Subject of the call in a few words."),
  folder: z.string().optional().describe("Absolute path of the folder in which the call works."),
  command: z.string().optional().describe("Command that the call runs."),
  paths: listSchema(z.object({ path: z.string(), access: z.enum(["read", "write"]) })).optional(),
  url: z.string().optional().describe("Address that the call requests."),
  untold: z
    .enum(["command", "files", "act"])
    .optional()
    .describe("Set if the arguments do not show everything that the call does, such as its command or its files."),
  change: z
    .object({ goes: z.string().optional(), comes: z.string() })
    .optional()
    .describe(
      "Names of two arguments. `goes` names the argument with the removed text, and `comes` names the argument with the added text.",
    ),
  looksAt: z
    .object({ one: z.string(), several: z.string() })
    .optional()
    .describe("For a call that only reads: the word for what the call reads, such as `file`, in singular and plural."),
  agent: z.string().optional().describe("The named agent that the call gives a task to."),
  result: z
    .string()
    .optional()
    .describe("For a call that ends a task: the name of the argument that contains the result."),
  plan: listSchema(z.object({ title: z.string(), status: z.enum(["pending", "in_progress", "completed"]) }))
    .optional()
    .describe("The whole plan after the call has completed."),
  handsIn: z
    .boolean()
    .optional()
    .describe("True if the call hands in a plan. In approval mode `plan`, a user then decides about the plan."),
});

export const planApproval = z.enum(["ask", "edits"]);

export const preview = z.object({
  changes: listSchema(fileChange).optional().describe("File changes that the call would make."),
  notes: listSchema(z.string()).optional().describe("Notes that help the user decide."),
  confinement: z
    .string()
    .optional()
    .describe("Limits of the sandbox in which the call's program would run, in one line."),
});

export const questionField = engineSchema<QuestionField>(
  z.object({
    heading: z.string(),
    text: z.string(),
    choices: listSchema(z.object({ label: z.string(), description: z.string().optional() })),
    several: z.boolean().optional().describe("True if the user may choose several choices."),
  }),
);
