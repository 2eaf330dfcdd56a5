import { z } from "zod";
import { BRANCHES_AT_ONCE } from "../bounds.ts";
import { compaction, saidPart, usage } from "../parts.ts";
import { count, dollars, id, line, list, nothing, text } from "../shapes.ts";
import { command } from "./command.ts";

const model = text(1, 200);
const worktree = z.string().describe("The name of the git worktree that it has for itself.");
const problems = list(z.string()).describe("What is not as one might expect, one sentence each.");
const file = z.object({
  path: z.string(),
  kind: z.enum(["created", "changed", "deleted"]),
  added: count.describe("Lines."),
  removed: count,
});

/** A branch beside others. */
const compared = z.object({
  first: id.describe("The message with which it begins."),
  leaf: id.describe("The one with which it ends."),
  name: z.string().describe("Its label, its worktree, what was asked where that differs, or the model that answered."),
  models: list(z.string()),
  worktree: worktree.optional(),
  outcome: z
    .enum(["answered", "finished", "limit", "failed", "interrupted", "working", "waiting", "unasked"])
    .describe("How its last turn ended; or that an agent works on it, or waits for a person."),
  problem: z.string().optional().describe("Why there is no answer, or its files cannot be looked at."),
  time: count.optional().describe("Milliseconds of its turns, without those for which they waited for a person."),
  usage,
  cost: dollars.optional().describe("US dollars; absent when a price is unknown."),
  files: list(file).describe("Those that are otherwise than where the branches part."),
  said: z.string().describe("How its last answer begins."),
});

/** What is done with a branch as a whole. */
export const branchCommands = {
  "branch.compact": command(
    "Has the model sum up what was said on the branch that ends at `at`, but for the last few messages. The summary stands for that from then on; all of it stays in the tree. Refused while an agent works there, or waits for a user. The id of the command becomes that of a run, which `run.interrupt` ends.",
    {
      conversation: id,
      at: id.optional().describe("Where it was last written to when absent."),
      model: text(1, 200)
        .optional()
        .describe("The one that sums up: `provider/model` or an alias. That of the conversation when absent."),
      keep: line(10_000).optional().describe("What the summary must keep, in words for the model."),
    },
    z.object({
      summary: id.optional().describe("The new message, which stands at the end of the branch."),
      compaction: compaction.optional().describe("What the summary made of the next request."),
      problem: z.string().optional().describe("Why everything stays as it was, when there is no summary."),
    }),
  ),
  "branch.fan": command(
    "Asks the same of several models at once, or several times: each on a branch of its own below `at`, with a git worktree of its own where it may write and the workspace is in a repository. Each is a turn like any other; their messages bear the id of the command, a full stop and a number from 1. Refused while an agent works at `at`, or waits for a user there.",
    {
      conversation: id,
      at: id.nullable().optional().describe("Where it was last written to when absent; the root with null."),
      parts: list(saidPart).check(z.minLength(1)),
      models: list(model)
        .check(z.minLength(1), z.maxLength(BRANCHES_AT_ONCE))
        .optional()
        .describe("`provider/model` or aliases, each as often as it is named; that of the conversation when absent."),
      times: z
        .int()
        .min(1)
        .max(BRANCHES_AT_ONCE)
        .optional()
        .describe("How often each is asked; once when absent, three times where one model is asked."),
      agent: text(1, 64).optional().describe("One of the named agents."),
      mode: z.enum(["chat", "task"]).optional(),
      worktrees: z.boolean().optional().describe("Whether each has a worktree, whatever it may do."),
    },
    z.object({
      branches: list(z.object({ message: id, model: z.string(), worktree: worktree.optional() })),
      problems,
    }),
  ),
  "branch.compare": command(
    "The branches that part at a message, side by side: with time, cost, files and outcome.",
    {
      conversation: id,
      at: id
        .optional()
        .describe(
          "A message of one of them: they part at the nearest one above it. Where it was last written to when absent.",
        ),
    },
    z.object({ at: id.nullable().describe("Where they part."), branches: list(compared) }),
  ),
  "branch.bring": command(
    "Takes what the branch down to `from` came to over to the one down to `to`: a message says what was asked there and what came of it, and the changes of its worktree follow as a call of a turn, which rules judge, a person is asked about, and `file.undo` takes back. Where both changed the same lines, both stand in the file between marks. Refused while an agent works on one of them, or waits for a user. The message has the id of the command.",
    { conversation: id, from: id, to: id.optional().describe("Where it was last written to when absent.") },
    z.object({ message: id, files: count.describe("Files that the call is about."), problems }),
  ),
  "worktree.open": command(
    "Begins a branch below `at` with a git worktree of its own, which has the files of the branch down to there, with what is not committed. What is said below `message` works there.",
    {
      conversation: id,
      at: id.nullable().optional().describe("Where it was last written to when absent; the root with null."),
      name: line(80).optional(),
    },
    z.object({ message: id, worktree }),
  ),
  "worktree.list": command(
    "The git worktrees of the workspace's conversations, with what each holds.",
    { conversation: id.optional().describe("Only those of this one.") },
    z.object({
      worktrees: list(
        z.object({
          name: z.string(),
          folder: z.string().describe("Where its files are."),
          conversation: id,
          isGone: z.boolean().describe("Somebody removed its files."),
          commits: count,
          files: list(file).describe("Those that are otherwise than when it was made."),
        }),
      ),
    }),
  ),
  "worktree.remove": command(
    "Removes a git worktree and its branch of git. Refused while it holds changes, unless they may go, and while an agent works in it, or waits for a user.",
    {
      name: text(1, 200),
      changes: z.boolean().optional().describe("What it holds may go."),
    },
    nothing,
  ),
} as const;
