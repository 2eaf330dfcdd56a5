import type {
  BrokenTurn,
  FollowingCall,
  LiveRun,
  OpenQuestion,
  RunEnd,
  StayingProcess,
  WaitingInput,
} from "@banyan/core/conversation";
import { z } from "zod";
import { message } from "./message.ts";
import { offers, preview, questionField, usage, userPart } from "./parts.ts";
import { callId, count, cursor, dollars, engineSchema, id, listSchema, time } from "./shapes.ts";

/**
 * Schema of a message in the outline of a tree: its position and properties, without its content. Absent fields are
 * empty, false or 0, except that an absent `cost` is unknown.
 */
export const node = z.object({
  id,
  parent: count.optional().describe("The place of its parent in the list of nodes; absent for a root."),
  call: callId.optional().describe("For a sub-agent's first message: the launching call."),
  role: z.enum(["user", "assistant", "summary"]),
  author: z.enum(["tool", "system"]).optional().describe("Author of a user message, if not a user."),
  worktree: z.string().optional().describe("Git worktree of everything below it."),
  at: time,
  label: z.string().optional(),
  starred: z.literal(true).optional(),
  removed: z.literal(true).optional(),
  words: z.string().optional().describe("Its beginning: at most 60 characters, white space folded."),
  size: count.optional().describe("UTF-16 units of its text and of its calls' arguments and results."),
  run: count.optional().describe("The run that wrote an answer, as a place in `names`."),
  model: count.optional().describe("The model that wrote an answer, as a place in `names`."),
  finish: z.string().optional().describe("Why an answer ended; absent while it streams."),
  error: z.string().optional(),
  calls: count.optional().describe("Number of requested calls."),
  open: count.optional().describe("Number without a result."),
  failed: count.optional().describe("Number of failed or denied calls."),
  changed: count.optional().describe("Number of their file changes."),
  usage: listSchema(count).optional().describe("Tokens: input, cached, cache writes, output, reasoning."),
  cost: dollars.optional().describe("US dollars."),
  covers: id.optional().describe("The last message that a summary covers."),
});

const run = engineSchema<LiveRun>(
  z.looseObject({
    id,
    agent: z.string(),
    mode: z.enum(["chat", "task"]),
    startedAt: time,
    leaf: id.nullable().describe("The last message on its path."),
    call: callId.optional().describe("The launching call, for a sub-agent."),
  }),
);

const ofCall = { id, message: id, call: callId };

/** Schema of an open question: an approval of a call, a tool's question, or a question about exceeding a limit. */
export const question = engineSchema<OpenQuestion>(
  z.discriminatedUnion("type", [
    z.looseObject({
      ...ofCall,
      type: z.literal("approval"),
      pattern: z.string().optional(),
      preview: preview.optional(),
      survives: z.literal(false).optional().describe("It is closed when its process ends."),
    }),
    z.looseObject({
      ...ofCall,
      type: z.literal("text"),
      text: z.string(),
      choices: listSchema(z.string()).optional(),
      fields: listSchema(questionField).optional().describe("Fields of a form, with choices."),
      default: z.string().optional(),
      survives: z.boolean().optional().describe("Fate after its process ends, as in `question.asked`."),
    }),
    z.looseObject({
      id,
      message: id.nullable().describe("The last message of the run."),
      type: z.literal("limit"),
      run: id,
      reason: z.string().describe("The limit reached, or the offer: one sentence."),
      offers,
      survives: z.literal(false).optional().describe("It is closed when its process ends."),
    }),
  ]),
);

const waiting = engineSchema<WaitingInput>(
  z.looseObject({
    id: id.describe("Becomes the id of the message."),
    parts: listSchema(userPart),
    unreadable: z.string().optional().describe("Why its parts are unreadable, in one sentence."),
    delivery: z.enum(["steer", "queue", "interrupt"]),
    run: id.nullable(),
    at: id.nullable().optional(),
    held: z.boolean().describe("Held until a user sends it."),
  }),
);

const following = engineSchema<FollowingCall>(z.looseObject({ call: callId, message: id, run: id }));

const process = engineSchema<StayingProcess>(
  z.looseObject({
    id: z.string().describe("`p1`, `p2`, and so on."),
    title: z.string().describe("Title, one line."),
    message: id,
    call: callId,
    startedAt: time,
    outcome: z.string().optional().describe("Its outcome; absent while it runs."),
  }),
);

const broken = z.looseObject({
  message: id.describe("The last message on its path when it ended."),
  run: id,
  reason: engineSchema<BrokenTurn["reason"]>(z.string()),
  code: z.string().optional().describe("The kind of failure."),
  why: z.string().optional().describe("One sentence."),
});

/** A rule of the conversation that now allows less than when the user added it. */
const narrowedRule = z.object({
  rule: z.string(),
  reason: z.string().describe("The change since then, and the advice to the user."),
});

/** Schema of a conversation's current state, without the content of most messages. */
export const snapshot = z.object({
  type: z.literal("snapshot"),
  conversation: id,
  cursor: cursor.describe("The feed continues from here."),
  seq: count.describe("The last included event."),
  title: z.string().optional(),
  model: z.string().optional().describe("The conversation's chosen model."),
  labels: z.record(z.string(), z.string()),
  createdAt: time,
  leaf: id.nullable().describe("The last written message."),
  view: id.nullable().describe("The end of the branch whose messages are in `messages`."),
  names: listSchema(z.string()).describe("Strings that nodes refer to by index."),
  nodes: listSchema(node).describe("All messages in order of creation: a parent precedes its children."),
  messages: listSchema(message).describe("The last messages of the branch in view, whole, the oldest first."),
  runs: listSchema(run),
  waiting: listSchema(run)
    .default([])
    .describe("Runs without a process that wait for a user: an answer continues them."),
  continuedBy: z.record(id, id).default({}).describe("Runs that waited, each with the run that continued it."),
  inbox: listSchema(waiting).describe("Undelivered input of users, in order."),
  questions: listSchema(question).describe("Open questions."),
  following: listSchema(following).describe("Calls that listen to the model."),
  processes: listSchema(process)
    .default([])
    .describe("Background processes that run, or whose end the model does not know."),
  processesBegun: count.default(0).describe("Their number."),
  allowed: listSchema(z.string()).describe("Permission rules that a user allowed for this conversation."),
  narrowed: listSchema(narrowedRule)
    .default([])
    .describe("Rules of this conversation that now allow less than when a user set them."),
  lastRunEnd: engineSchema<RunEnd>(z.string()).optional(),
  broken: listSchema(broken).default([]).describe("Turns without an answer that were not continued."),
  usage: usage.describe("Sum over model calls."),
  cost: dollars.optional().describe("US dollars of all model calls; absent when unknown."),
  interrupted: listSchema(run).describe(
    "Runs that a stopped process left: continue them with `turn.resume` at their `leaf`.",
  ),
  damage: listSchema(z.string()).describe("Unreadable parts of the log, in words."),
});

/** A message in the outline. */
export type OutlineNode = z.infer<typeof node>;

/** A rule of the conversation that now allows less than when the user added it. */
export type NarrowedRule = z.infer<typeof narrowedRule>;

/** The first frame for a client that begins to watch. */
export type Snapshot = z.infer<typeof snapshot>;
