import type {
  BrokenTurn,
  Following,
  LiveRun,
  OpenQuestion,
  RunEnd,
  StayingProcess,
  WaitingInput,
} from "@banyan/core/conversation";
import { z } from "zod";
import { message } from "./message.ts";
import { offers, preview, questionField, usage, userPart } from "./parts.ts";
import { callId, count, cursor, dollars, id, list, schemaOf, time } from "./shapes.ts";

/**
 * A message in the outline of a tree: where it stands and what it is, without what it says. What is absent is nothing,
 * false or 0, except `cost`: that is unknown.
 */
export const node = z.object({
  id,
  parent: count.optional().describe("The place of its parent in the list of nodes; absent for a root."),
  call: callId.optional().describe("For the first message of a sub-agent: the call that launched it."),
  role: z.enum(["user", "assistant", "summary"]),
  author: z.enum(["tool", "system"]).optional().describe("Who wrote a user message, if no person did."),
  worktree: z.string().optional().describe("The name of the git worktree in which all below it works."),
  at: time,
  label: z.string().optional(),
  starred: z.literal(true).optional(),
  removed: z.literal(true).optional(),
  words: z.string().optional().describe("How it begins: at most 60 characters, white space folded."),
  size: count.optional().describe("UTF-16 units of its text and of its calls' arguments and results."),
  run: count.optional().describe("The run that wrote an answer, as a place in `names`."),
  model: count.optional().describe("The model that wrote an answer, as a place in `names`."),
  finish: z.string().optional().describe("Why an answer ended; absent while it streams."),
  error: z.string().optional(),
  calls: count.optional().describe("How many calls it asked for."),
  open: count.optional().describe("How many of them have no result yet."),
  failed: count.optional().describe("How many of them failed or were denied."),
  changed: count.optional().describe("How many changes of files they made."),
  usage: list(count).optional().describe("Tokens: input, cached, cache writes, output, reasoning."),
  cost: dollars.optional().describe("US dollars."),
  covers: id.optional().describe("The last message that a summary stands for."),
});

const run = schemaOf<LiveRun>(
  z.looseObject({
    id,
    agent: z.string(),
    mode: z.enum(["chat", "task"]),
    startedAt: time,
    leaf: id.nullable().describe("The last message on its path."),
    call: callId.optional().describe("The call that launched it, when it is a sub-agent's."),
  }),
);

const ofCall = { id, message: id, call: callId };

/** What waits for a person: whether a call may run, what a tool asks in words, or whether a run may go on beyond a limit. */
export const question = schemaOf<OpenQuestion>(
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
      choices: list(z.string()).optional(),
      fields: list(questionField).optional().describe("What is asked at once, each with its choices."),
      default: z.string().optional(),
      survives: z.boolean().optional().describe("What becomes of it when its process ends, as in `question.asked`."),
    }),
    z.looseObject({
      id,
      message: id.nullable().describe("The last message of the run."),
      type: z.literal("limit"),
      run: id,
      reason: z.string().describe("Which limit the run has reached, or what is offered: one sentence."),
      offers,
      survives: z.literal(false).optional().describe("It is closed when its process ends."),
    }),
  ]),
);

const waiting = schemaOf<WaitingInput>(
  z.looseObject({
    id: id.describe("Becomes the id of the message."),
    parts: list(userPart),
    unreadable: z.string().optional().describe("Why its parts cannot be read, in one sentence."),
    delivery: z.enum(["steer", "queue", "interrupt"]),
    run: id.nullable(),
    at: id.nullable().optional(),
    held: z.boolean().describe("It waits until somebody sends it."),
  }),
);

const following = schemaOf<Following>(z.looseObject({ call: callId, message: id, run: id }));

const process = schemaOf<StayingProcess>(
  z.looseObject({
    id: z.string().describe("`p1`, `p2`, and so on."),
    title: z.string().describe("What it is: one line."),
    message: id,
    call: callId,
    startedAt: time,
    outcome: z.string().optional().describe("How it ended; absent while it runs."),
  }),
);

const broken = z.looseObject({
  message: id.describe("The message that stood last on its path when it ended."),
  run: id,
  reason: schemaOf<BrokenTurn["reason"]>(z.string()),
  code: z.string().optional().describe("The kind of failure."),
  why: z.string().optional().describe("One sentence."),
});

/** A rule of the conversation that allows less than when the user allowed it. */
const narrowedRule = z.object({
  rule: z.string(),
  reason: z.string().describe("The change since then, and the advice to the user."),
});

/** A conversation as it is now, but for what most of its messages say. */
export const snapshot = z.object({
  type: z.literal("snapshot"),
  conversation: id,
  cursor: cursor.describe("The feed goes on from here."),
  seq: count.describe("The last event that is in it."),
  title: z.string().optional(),
  model: z.string().optional().describe("The model that a person chose for the conversation."),
  labels: z.record(z.string(), z.string()),
  createdAt: time,
  leaf: id.nullable().describe("Where the conversation was last written to."),
  view: id.nullable().describe("The end of the branch whose messages are in `messages`."),
  names: list(z.string()).describe("What nodes refer to by its place."),
  nodes: list(node).describe("All messages in the order of their creation: a parent stands before its children."),
  messages: list(message).describe("The last messages of the branch in view, whole, the oldest first."),
  runs: list(run),
  waiting: list(run)
    .default([])
    .describe("Runs whose processes ended while a user was asked: an answer to the question continues their turns."),
  continuedBy: z
    .record(id, id)
    .default({})
    .describe("Runs that waited, each with the run that continues its turn and has its calls now."),
  inbox: list(waiting).describe("What people wrote and what is not delivered, in order."),
  questions: list(question).describe("What waits for a person."),
  following: list(following).describe("Calls that listen to the model."),
  processes: list(process)
    .default([])
    .describe("What stays of calls that have their results: what runs, and what ended and the model was not told of."),
  processesBegun: count.default(0).describe("How many of them there were."),
  allowed: list(z.string()).describe("Permission rules that a person allowed for this conversation."),
  narrowed: list(narrowedRule)
    .default([])
    .describe("Rules that a person allowed for this conversation, and that allow less now than they did then."),
  lastRunEnd: schemaOf<RunEnd>(z.string()).optional(),
  broken: list(broken)
    .default([])
    .describe("Turns that did not come to their answer, but for those that were taken up again where they ended."),
  usage: usage.describe("Of all model calls."),
  cost: dollars.optional().describe("US dollars of all model calls; absent when unknown."),
  interrupted: list(run).describe(
    "Runs that a process left in the middle when it stopped: `turn.resume` goes on, `at` their `leaf`.",
  ),
  damage: list(z.string()).describe("What of the log could not be read, in words."),
});

/** An entry of the outline. */
export type Node = z.infer<typeof node>;

/** A rule of the conversation that allows less than when the user allowed it. */
export type NarrowedRule = z.infer<typeof narrowedRule>;

/** What a client that begins to watch is sent first. */
export type Snapshot = z.infer<typeof snapshot>;
