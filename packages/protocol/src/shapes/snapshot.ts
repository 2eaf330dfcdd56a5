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
import { liveGoal, offers, preview, questionField, usage, userPart } from "./parts.ts";
import { callId, count, cursor, dollars, engineSchema, id, listSchema, time } from "./shapes.ts";

/**
 * Schema of a message in the outline of a tree: its position and properties, without its content. Absent fields are
 * empty, false or 0; an absent `cost` is unknown.
 * @example const { properties } = z.toJSONSchema(node);
 */
export const node = z.object({
  id,
  parent: count.optional().describe("Index of the parent in `nodes`. Absent for a root."),
  call: callId.optional().describe("For a sub-agent's first message: the call that launched the sub-agent."),
  role: z.enum(["user", "assistant", "summary"]),
  author: z
    .enum(["tool", "system"])
    .optional()
    .describe("Set if no user wrote this message with the role `user`: the author of the message."),
  worktree: z
    .string()
    .optional()
    .describe("Name of a git worktree. This message and all messages below it use the worktree."),
  at: time,
  label: z.string().optional(),
  starred: z.literal(true).optional(),
  removed: z.literal(true).optional(),
  words: z
    .string()
    .optional()
    .describe(
      "The first words of the message, at most 60 characters. Line breaks and repeated spaces become one space.",
    ),
  size: count
    .optional()
    .describe("Length of the message in UTF-16 units: of its text, and of the arguments and results of its calls."),
  run: count.optional().describe("The run that wrote the answer, as its position in `names` (from 0)."),
  model: count.optional().describe("The model that wrote the answer, as its position in `names` (from 0)."),
  finish: z.string().optional().describe("Reason for the end of the answer. Absent while it streams."),
  error: z.string().optional(),
  calls: count.optional().describe("Number of calls in the answer."),
  open: count.optional().describe("Number of calls without a result."),
  failed: count.optional().describe("Number of failed or denied calls."),
  changed: count.optional().describe("Number of file changes by the answer's calls."),
  usage: listSchema(count)
    .optional()
    .describe("Numbers of tokens in this order: `input`, `cached`, `cacheWrite`, `output`, `reasoning`."),
  cost: dollars.optional(),
  covers: id.optional().describe("Last message that the summary covers."),
});

const run = engineSchema<LiveRun>(
  z.looseObject({
    id,
    agent: z.string(),
    mode: z.enum(["chat", "task"]),
    startedAt: time,
    leaf: id.nullable().describe("Last message on the path of the run."),
    call: callId.optional().describe("For a sub-agent: the call that launched the sub-agent."),
    goal: liveGoal.optional(),
  }),
);

const ofCall = { id, message: id, call: callId };

export const question = engineSchema<OpenQuestion>(
  z.discriminatedUnion("type", [
    z.looseObject({
      ...ofCall,
      type: z.literal("approval"),
      pattern: z.string().optional(),
      preview: preview.optional(),
      survives: z
        .literal(false)
        .optional()
        .describe("Set if the question closes as soon as the process that asks it ends."),
    }),
    z.looseObject({
      ...ofCall,
      type: z.literal("text"),
      text: z.string(),
      choices: listSchema(z.string()).optional(),
      fields: listSchema(questionField).optional().describe("Fields of a form, with choices."),
      default: z.string().optional(),
      survives: z
        .boolean()
        .optional()
        .describe("What happens to the call if the process that asks ends, as in `question.asked`."),
    }),
    z.looseObject({
      id,
      message: id.nullable().describe("Last message of the run."),
      type: z.literal("limit"),
      run: id,
      reason: z
        .string()
        .describe("One sentence about the limit that the run reached, or about the message that is too large."),
      offers,
      survives: z
        .literal(false)
        .optional()
        .describe("Set if the question closes as soon as the process that asks it ends."),
    }),
  ]),
);

const waiting = engineSchema<WaitingInput>(
  z.looseObject({
    id: id.describe("Id that the message has once it is delivered."),
    parts: listSchema(userPart),
    unreadable: z.string().optional().describe("Reason why the parts of the message are unreadable."),
    delivery: z.enum(["steer", "queue", "interrupt"]),
    run: id.nullable(),
    at: id.nullable().optional(),
    held: z.boolean().describe("True if the message is held until a user sends it."),
  }),
);

const following = engineSchema<FollowingCall>(z.looseObject({ call: callId, message: id, run: id }));

const process = engineSchema<StayingProcess>(
  z.looseObject({
    id: z.string().describe("`p1`, `p2`, and so on."),
    title: z.string().describe("Title of the background process, in one line."),
    message: id,
    call: callId,
    startedAt: time,
    outcome: z.string().optional().describe("Outcome of the process. Absent while it runs."),
  }),
);

const broken = z.looseObject({
  message: id.describe("Last message on the path of the turn when it ended."),
  run: id,
  reason: engineSchema<BrokenTurn["reason"]>(z.string()),
  code: z.string().optional().describe("Kind of failure."),
  why: z.string().optional().describe("One sentence about why the turn failed."),
  goal: liveGoal.optional().describe("Goal that the turn did not reach. `turn.resume` continues with the goal."),
});

const narrowedRule = z.object({
  rule: z.string(),
  reason: z.string().describe("The reason why the rule allows less now, and what the user can do."),
});

/**
 * Schema of a conversation's current state, without the content of most messages.
 * @example const { nodes, cursor } = snapshot.parse(JSON.parse(await readFile("snapshot.json", "utf8")));
 */
export const snapshot = z.object({
  type: z.literal("snapshot"),
  conversation: id,
  cursor: cursor.describe("Cursor from which the feed continues."),
  seq: count.describe("Number of the last event in the snapshot."),
  title: z.string().optional(),
  model: z.string().optional().describe("Model that was chosen for the conversation."),
  labels: z.record(z.string(), z.string()),
  createdAt: time,
  leaf: id.nullable().describe("Last written message."),
  view: id.nullable().describe("Last message of the branch whose messages are in `messages`."),
  names: listSchema(z.string()).describe("Strings to which nodes refer by index."),
  nodes: listSchema(node).describe("All messages of the tree, in order of creation. A parent precedes its children."),
  messages: listSchema(message).describe(
    "The last messages of the viewed branch, with all their parts. The oldest message comes first.",
  ),
  runs: listSchema(run),
  waiting: listSchema(run)
    .default([])
    .describe(
      "Runs that still wait for a user although their process has ended. The user's answer continues such a run.",
    ),
  continuedBy: z
    .record(id, id)
    .default({})
    .describe("Ids of runs that waited for a user, each with the id of the run that continued its turn."),
  inbox: listSchema(waiting).describe("Messages of users that are not delivered yet, in order."),
  questions: listSchema(question).describe("Open questions."),
  following: listSchema(following).describe(
    "Calls whose tools process the model's response while the response streams.",
  ),
  processes: listSchema(process)
    .default([])
    .describe(
      "Background processes that run, and processes that have ended but whose end the model does not know yet.",
    ),
  processesBegun: count.default(0).describe("Number of all background processes that were started so far."),
  allowed: listSchema(z.string()).describe("Permission rules that a user allowed for this conversation."),
  narrowed: listSchema(narrowedRule)
    .default([])
    .describe("Rules of this conversation that now allow less than when a user added them."),
  lastRunEnd: engineSchema<RunEnd>(z.string()).optional(),
  broken: listSchema(broken).default([]).describe("Turns that broke off without an answer and were not continued."),
  usage: usage.describe("Usage of all model calls together."),
  cost: dollars.optional().describe("Cost of all model calls. Absent if unknown."),
  interrupted: listSchema(run).describe(
    "Runs that were interrupted because their process stopped. `turn.resume` with a run's `leaf` continues that run.",
  ),
  damage: listSchema(z.string()).describe("Descriptions of the unreadable parts of the log."),
});

/** A message in the outline of a tree. See {@link Mirror}. */
export type OutlineNode = z.infer<typeof node>;

/** A rule of the conversation that now allows less than when the user added it. See {@link Mirror}. */
export type NarrowedRule = z.infer<typeof narrowedRule>;

/** The first frame for a client that begins to watch. See {@link Mirror}. */
export type Snapshot = z.infer<typeof snapshot>;
