import { z } from "zod";
import { BRANCHES_AT_ONCE } from "../shapes/bounds.ts";
import { compaction, saidPart, usage } from "../shapes/parts.ts";
import { count, dollars, id, lineSchema, listSchema, nothing, textSchema } from "../shapes/shapes.ts";
import { command } from "./command.ts";

const model = textSchema(1, 200);
const worktree = z.string().describe("Its own git worktree.");
const problems = listSchema(z.string()).describe("Surprises, one sentence each.");
const file = z.object({
  path: z.string(),
  kind: z.enum(["created", "changed", "deleted"]),
  added: count.describe("Lines."),
  removed: count,
});

/** A branch in a comparison. */
const compared = z.object({
  first: id.describe("Its first message."),
  leaf: id.describe("Its last message."),
  name: z.string().describe("Its label, its worktree, its prompt if different, or its model."),
  models: listSchema(z.string()),
  worktree: worktree.optional(),
  outcome: z
    .enum(["answered", "finished", "limit", "failed", "interrupted", "working", "waiting", "unasked"])
    .describe("Outcome of its last turn; or working, or waiting for a user."),
  problem: z.string().optional().describe("Why there is no answer, or why its files cannot be read."),
  time: count.optional().describe("Milliseconds of its turns, without waits for a user."),
  usage,
  cost: dollars.optional().describe("US dollars; absent when a price is unknown."),
  files: listSchema(file).describe("Files that differ from the fork."),
  said: z.string().describe("Beginning of its last answer."),
});

/** Commands about whole branches. */
export const branchCommands = {
  "branch.compact": command(
    "Has the model summarise the branch that ends at `at`, except its last messages; the tree keeps all. Refused while an agent works there, or waits for a user. The command's id becomes a run's, which `run.interrupt` ends.",
    {
      conversation: id,
      at: id.optional().describe("Default: the last written message."),
      model: textSchema(1, 200)
        .optional()
        .describe("Model for the summary: `provider/model` or an alias. Default: the conversation's."),
      keep: lineSchema(10_000).optional().describe("Words that the summary must keep, for the model."),
    },
    z.object({
      summary: id.optional().describe("The new message, at the end of the branch."),
      compaction: compaction.optional().describe("Effect on the next request."),
      problem: z.string().optional().describe("Reason for no summary."),
    }),
  ),
  "branch.fan": command(
    "Asks several models at once, or one several times, each on its own branch below `at`, with its own git worktree if it may write and the workspace is in a repository. Message ids are the command's id, a full stop and a number from 1. Refused while an agent works or waits at `at`.",
    {
      conversation: id,
      at: id.nullable().optional().describe("Default: the last written message; null: the root."),
      parts: listSchema(saidPart).check(z.minLength(1)),
      models: listSchema(model)
        .check(z.minLength(1), z.maxLength(BRANCHES_AT_ONCE))
        .optional()
        .describe("`provider/model` or aliases, repeated as listed; default: the conversation's."),
      times: z
        .int()
        .min(1)
        .max(BRANCHES_AT_ONCE)
        .optional()
        .describe("Requests per model; default 1, or 3 for a single model."),
      agent: textSchema(1, 64).optional().describe("One of the named agents."),
      mode: z.enum(["chat", "task"]).optional(),
      worktrees: z.boolean().optional().describe("Gives each a worktree, even without writing tools."),
    },
    z.object({
      branches: listSchema(z.object({ message: id, model: z.string(), worktree: worktree.optional() })),
      problems,
    }),
  ),
  "branch.compare": command(
    "Compares the branches below a message: time, cost, files and outcome.",
    {
      conversation: id,
      at: id.optional().describe("A message of a branch, below the fork. Default: the last written message."),
    },
    z.object({ at: id.nullable().describe("Their common message."), branches: listSchema(compared) }),
  ),
  "branch.bring": command(
    "Brings the branch down to `from` over to the branch down to `to`: a message has its request and outcome, and its worktree's changes follow as a call, which rules judge, a user approves, and `file.undo` reverts. Conflicting lines stay in the file between marks. Refused while an agent works or waits on either. The message has the command's id.",
    { conversation: id, from: id, to: id.optional().describe("Default: the last written message.") },
    z.object({ message: id, files: count.describe("Files that the call is about."), problems }),
  ),
  "worktree.open": command(
    "Begins a branch below `at` with its own git worktree: the branch's files, with uncommitted changes. Everything below `message` works there.",
    {
      conversation: id,
      at: id.nullable().optional().describe("Default: the last written message; null: the root."),
      name: lineSchema(80).optional(),
    },
    z.object({ message: id, worktree }),
  ),
  "worktree.list": command(
    "The git worktrees of the workspace's conversations, with their changes.",
    { conversation: id.optional().describe("Only those of this one.") },
    z.object({
      worktrees: listSchema(
        z.object({
          name: z.string(),
          folder: z.string().describe("Folder of its files."),
          conversation: id,
          isGone: z.boolean().describe("Its files were removed."),
          commits: count,
          files: listSchema(file).describe("Files that changed since it was made."),
        }),
      ),
    }),
  ),
  "worktree.remove": command(
    "Removes a git worktree and its git branch. Refused while it has changes, unless they may be lost, or while an agent works or waits there.",
    {
      name: textSchema(1, 200),
      changes: z.boolean().optional().describe("Its changes may be lost."),
    },
    nothing,
  ),
} as const;
