import { z } from "zod";
import { BRANCHES_AT_ONCE } from "../shapes/bounds.ts";
import { compaction, saidPart, usage } from "../shapes/parts.ts";
import { count, dollars, id, lineSchema, listSchema, nothing, textSchema } from "../shapes/shapes.ts";
import { command } from "./command.ts";

const model = textSchema(1, 200);
const worktree = z.string().describe("The git worktree of this branch.");
const problems = listSchema(z.string()).describe("Problems, each described for the user in one sentence.");
const file = z.object({
  path: z.string(),
  kind: z.enum(["created", "changed", "deleted"]),
  added: count.describe("Number of lines."),
  removed: count,
});

const compared = z.object({
  first: id.describe("First message of the branch."),
  leaf: id.describe("Last message of the branch."),
  name: z
    .string()
    .describe(
      "Name of the branch: its label. A branch without a label is named after its worktree, its prompt (if the prompts differ) or its model.",
    ),
  models: listSchema(z.string()),
  worktree: worktree.optional(),
  outcome: z
    .enum(["answered", "finished", "limit", "failed", "interrupted", "working", "waiting", "unasked"])
    .describe(
      "Outcome of the last turn. `working` and `waiting`: the turn has not ended. `unasked`: no model was asked.",
    ),
  problem: z.string().optional().describe("Reason why there is no answer, or why the files cannot be read."),
  time: count
    .optional()
    .describe(
      "Duration of all turns of the branch in milliseconds. The time in which turns wait for a user is left out.",
    ),
  usage,
  cost: dollars.optional().describe("Cost of the branch. Absent if a price is unknown."),
  files: listSchema(file).describe("Files that differ from the state at the fork."),
  said: z.string().describe("The first words of the branch's last answer."),
});

export const branchCommands = {
  "branch.compact": command(
    "Compacts the branch that ends at `at`: the model summarises the branch, except the most recent messages. The tree keeps all messages. Refused while an agent works on the branch or waits for a user. `run.interrupt` with the command's id ends the compaction.",
    {
      conversation: id,
      at: id.optional().describe("The last message of the branch. Default: the newest message of the conversation."),
      model: textSchema(1, 200)
        .optional()
        .describe("Model that writes the summary: `provider/model` or an alias. Default: the conversation's model."),
      keep: lineSchema(10_000).optional().describe("Instruction to the model: what the summary must keep."),
    },
    z.object({
      summary: id.optional().describe("The summary, a new message at the end of the branch."),
      compaction: compaction.optional().describe("How much shorter the summary makes the next request to the model."),
      problem: z.string().optional().describe("Reason why there is no summary."),
    }),
  ),
  "branch.fan": command(
    "Asks several models at once, or one model several times. Each answer has its own branch after `at`. With `worktrees`, each branch also has its own git worktree. The first message of each branch has this id: the command's id, a full stop and a number from 1. Refused while an agent works or waits at `at`.",
    {
      conversation: id,
      at: id
        .nullable()
        .optional()
        .describe("The message to continue from. Default: the newest message of the conversation. `null`: the root."),
      parts: listSchema(saidPart).check(z.minLength(1)),
      models: listSchema(model)
        .check(z.minLength(1), z.maxLength(BRANCHES_AT_ONCE))
        .optional()
        .describe("`provider/model` or aliases. A model may occur several times. Default: the conversation's model."),
      times: z
        .int()
        .min(1)
        .max(BRANCHES_AT_ONCE)
        .optional()
        .describe("Number of requests to each model. Default: 1, or 3 if there is only one model."),
      agent: textSchema(1, 64).optional().describe("A named agent."),
      mode: z.enum(["chat", "task"]).optional(),
      worktrees: z
        .boolean()
        .optional()
        .describe(
          "Whether each branch gets a git worktree. Default: true if the agent may write files and the workspace is in a repository.",
        ),
    },
    z.object({
      at: id
        .optional()
        .describe("The message from which the branches fork. Absent if this command had already been carried out."),
      branches: listSchema(z.object({ message: id, model: z.string(), worktree: worktree.optional() })),
      problems,
    }),
  ),
  "branch.compare": command(
    "Compares the branches below a message: time, cost, files and outcome.",
    {
      conversation: id,
      at: id.optional().describe("A message below the fork. Default: the newest message of the conversation."),
    },
    z.object({ at: id.nullable().describe("Message at which the branches fork."), branches: listSchema(compared) }),
  ),
  "branch.bring": command(
    "Brings the work of the branch that ends at `from` to the branch that ends at `to`. The command adds a message with the request and the outcome of `from`; this message gets the command's id. Then a tool call changes the files. As for other calls, rules and users decide about this call, and `file.undo` reverts it. Conflicting lines are marked in the files. Refused while an agent works or waits on one of the branches.",
    {
      conversation: id,
      from: id,
      to: id
        .optional()
        .describe("The last message of the target branch. Default: the newest message of the conversation."),
    },
    z.object({ message: id, files: count.describe("Number of files that the call changes."), problems }),
  ),
  "worktree.open": command(
    "Begins a branch after `at` that has its own git worktree. The worktree starts with the branch's files, including uncommitted changes. The command adds a message (`message` in the result), and all messages below it use the worktree.",
    {
      conversation: id,
      at: id
        .nullable()
        .optional()
        .describe("The message to continue from. Default: the newest message of the conversation. `null`: the root."),
      name: lineSchema(80).optional(),
    },
    z.object({ message: id, worktree }),
  ),
  "worktree.list": command(
    "Lists the git worktrees of the workspace's conversations, with their changes.",
    { conversation: id.optional().describe("Lists only worktrees of this conversation.") },
    z.object({
      worktrees: listSchema(
        z.object({
          name: z.string(),
          folder: z.string().describe("Folder of the worktree's files."),
          conversation: id,
          isGone: z.boolean().describe("True if the folder was removed."),
          commits: count,
          files: listSchema(file).describe("Files that changed since the worktree was made."),
        }),
      ),
    }),
  ),
  "worktree.remove": command(
    "Removes a git worktree and its git branch. Refused while an agent works or waits in the worktree. Also refused if the worktree has changes, unless `changes` is true.",
    {
      name: textSchema(1, 200),
      changes: z.boolean().optional().describe("If true, the worktree is removed together with its changes."),
    },
    nothing,
  ),
} as const;
