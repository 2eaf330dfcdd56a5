import type { Call } from "@banyan/core/conversation";
import { z } from "zod";
import { call } from "../shapes/message.ts";
import { engineSchema, id, json, listSchema, nothing, textSchema } from "../shapes/shapes.ts";
import { question } from "../shapes/snapshot.ts";
import { command } from "./command.ts";
import { clientTools } from "./turns.ts";

const conversation = { conversation: id };

const pattern = textSchema(1, 4_000).describe("A permission rule.");
const REMEMBER = "A rule that decides matching calls in the same way from now on: in this conversation, or always.";

/** A user's decision. Only the fields listed here count (S14). */
const answer = z.discriminatedUnion("decision", [
  z.strictObject({
    decision: z.literal("allow"),
    input: json.optional().describe("Arguments as a user changed them."),
    remember: z
      .strictObject({ pattern, scope: z.enum(["conversation", "always"]) })
      .optional()
      .describe(REMEMBER),
  }),
  z.strictObject({
    decision: z.literal("deny"),
    reason: textSchema(0, 10_000).optional().describe("The user's reason, which the model gets."),
    remember: z
      .strictObject({ pattern, scope: z.literal("always") })
      .optional()
      .describe(REMEMBER),
  }),
  z.strictObject({
    decision: z.literal("answer"),
    text: textSchema(0, 100_000).describe("The text that answers the question."),
  }),
]);

const waiting = z.object({
  ...conversation,
  question,
  call: engineSchema<Call>(call).optional().describe("The call that asks. Absent for a question about a limit."),
  ofSubAgent: z.boolean(),
  directory: z.string().optional().describe("Directory of the conversation."),
});

export const answerCommands = {
  "question.list": command(
    "Lists the questions that wait for a user in all conversations, including sub-agents' questions and those of closed conversations.",
    {},
    z.object({ waiting: listSchema(waiting) }),
  ),
  "question.answer": command(
    "Answers an approval, a limit or a tool's question. The first answer counts. If the process that asked is gone, the answer continues the turn in a new run, which gets the command's id.",
    {
      ...conversation,
      question: id,
      answer,
      approval: z
        .enum(["ask", "edits", "sandbox"])
        .optional()
        .describe(
          "For an allowed plan: `ask` or `edits`, the approval mode in which the agent carries out the plan. Default: `ask`. For an allowed call: `sandbox`, which becomes the approval mode as with `approval.use`.",
        ),
      tools: clientTools
        .optional()
        .describe(
          "Client-side tools of the turn that the answer continues. Without this field, the model gets no descriptions of these tools.",
        ),
    },
    z.object({
      problem: z
        .string()
        .optional()
        .describe(
          "Reason why a rule was not stored, or why the turn does not continue. A rule that was not stored still applies in this conversation if it allows calls, and does not apply if it denies calls. The answer itself counts.",
        ),
    }),
  ),
  "rule.revoke": command(
    "Revokes a permission rule of this conversation.",
    { ...conversation, pattern: textSchema(1, 4_000) },
    nothing,
  ),
} as const;
