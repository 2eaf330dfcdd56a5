import type { Call } from "@banyan/core/conversation";
import { z } from "zod";
import { call } from "../shapes/message.ts";
import { planApproval } from "../shapes/parts.ts";
import { engineSchema, id, json, listSchema, nothing, textSchema } from "../shapes/shapes.ts";
import { question } from "../shapes/snapshot.ts";
import { command } from "./command.ts";
import { clientTools } from "./turns.ts";

const conversation = { conversation: id };

const pattern = textSchema(1, 4_000).describe("A permission rule.");
const REMEMBER = "The same from now on for everything that the rule covers: in this conversation, or for good.";

/** A user's decision. Only the fields listed here count (S14). */
const answer = z.discriminatedUnion("decision", [
  z.strictObject({
    decision: z.literal("allow"),
    input: json.optional().describe("Arguments changed by a user."),
    remember: z
      .strictObject({ pattern, scope: z.enum(["conversation", "always"]) })
      .optional()
      .describe(REMEMBER),
  }),
  z.strictObject({
    decision: z.literal("deny"),
    reason: textSchema(0, 10_000).optional().describe("Goes to the model."),
    remember: z
      .strictObject({ pattern, scope: z.literal("always") })
      .optional()
      .describe(REMEMBER),
  }),
  z.strictObject({ decision: z.literal("answer"), text: textSchema(0, 100_000).describe("To a question in words.") }),
]);

/** A question of any conversation, with the facts that a user needs to answer it. */
const waiting = z.object({
  ...conversation,
  question,
  call: engineSchema<Call>(call).optional().describe("The call that asks; absent at a limit."),
  ofSubAgent: z.boolean(),
  directory: z.string().optional().describe("The conversation's directory."),
});

/** Commands about questions, their answers, and the resulting rules. */
export const answerCommands = {
  "question.list": command(
    "Lists waiting questions of all conversations, open here, elsewhere or nowhere, including sub-agents'.",
    {},
    z.object({ waiting: listSchema(waiting) }),
  ),
  "question.answer": command(
    "Answers an approval, a limit or a tool's question. The first answer counts. If the asking process is gone, the answer continues the turn, and the command's id becomes its run's.",
    {
      ...conversation,
      question: id,
      answer,
      approval: planApproval.optional().describe("For an allowed plan under approval plan: its approval; default ask."),
      tools: clientTools
        .optional()
        .describe(
          "Client-side tools, as in `turn.say`, for a turn that the answer continues. A tool of an open call stays without a description if no client describes it.",
        ),
    },
    z.object({
      problem: z
        .string()
        .optional()
        .describe(
          "Why a rule was not stored: an allow rule holds only in this conversation, a deny rule not at all. Or why the turn does not continue: the answer is kept.",
        ),
    }),
  ),
  "rule.revoke": command(
    "Revokes a permission rule of this conversation.",
    { ...conversation, pattern: textSchema(1, 4_000) },
    nothing,
  ),
} as const;
