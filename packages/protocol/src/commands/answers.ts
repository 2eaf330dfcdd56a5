import type { Call } from "@banyan/core/conversation";
import { z } from "zod";
import { call } from "../shapes/message.ts";
import { engineSchema, id, json, listSchema, nothing, textSchema } from "../shapes/shapes.ts";
import { question } from "../shapes/snapshot.ts";
import { command } from "./command.ts";
import { clientTools } from "./turns.ts";

const conversation = { conversation: id };

const pattern = textSchema(1, 4_000).describe("A permission rule.");
const REMEMBER =
  "A permission rule that applies this decision to later calls that match: in this conversation, or always.";

/** A user's decision. Only the fields listed here count (S14). */
const answer = z.discriminatedUnion("decision", [
  z.strictObject({
    decision: z.literal("allow"),
    input: json.optional().describe("The arguments of the call after the user's changes."),
    remember: z
      .strictObject({ pattern, scope: z.enum(["conversation", "always"]) })
      .optional()
      .describe(REMEMBER),
  }),
  z.strictObject({
    decision: z.literal("deny"),
    reason: textSchema(0, 10_000).optional().describe("The user's reason, as text for the model."),
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
  call: engineSchema<Call>(call)
    .optional()
    .describe("The call that asks the question. Absent for a question about a limit."),
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
    "Answers a question about an approval or a limit, or a question of a tool. Only the first answer has an effect. If the process that asked has ended, a new run continues the turn. The new run gets the command's id.",
    {
      ...conversation,
      question: id,
      answer,
      approval: z
        .enum(["ask", "edits", "sandbox"])
        .optional()
        .describe(
          "If the answer allows a plan: the approval mode in which the agent carries out the plan, `ask` (the default) or `edits`. If the answer allows a call: `sandbox` also makes `sandbox` the approval mode, as `approval.use` does.",
        ),
      tools: clientTools
        .optional()
        .describe(
          "The tools that the client runs in the continued turn. Without this field, the model gets no descriptions of these tools.",
        ),
    },
    z.object({
      problem: z
        .string()
        .optional()
        .describe(
          "The answer to the question has an effect, but something else failed: the rule was not stored, or the turn does not continue. This is the reason. A rule that allows calls still applies in this conversation if it was not stored. A rule that denies calls then does not apply.",
        ),
    }),
  ),
  "rule.revoke": command(
    "Revokes a permission rule of this conversation.",
    { ...conversation, pattern: textSchema(1, 4_000) },
    nothing,
  ),
} as const;
