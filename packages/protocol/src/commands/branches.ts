import { z } from "zod";
import { id, line, text } from "../shapes.ts";
import { command } from "./command.ts";

/** What is done with a branch as a whole. */
export const branchCommands = {
  "branch.compact": command(
    "Has the model sum up what was said on the branch that ends at `at`, but for the last few messages. The summary stands for that from then on; all of it stays in the tree. Refused while an agent works there. The id of the command becomes that of a run, which `run.interrupt` ends.",
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
      problem: z.string().optional().describe("Why everything stays as it was, when there is no summary."),
    }),
  ),
} as const;
