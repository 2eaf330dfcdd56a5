import type { Call } from "@banyan/core/conversation";
import { z } from "zod";
import { call } from "../message.ts";
import { planApproval } from "../parts.ts";
import { id, json, list, nothing, schemaOf, text } from "../shapes.ts";
import { question } from "../snapshot.ts";
import { command } from "./command.ts";
import { clientTools } from "./turns.ts";

const conversation = { conversation: id };

const pattern = text(1, 4_000).describe("A permission rule.");
const REMEMBER = "The same from now on for everything that the rule covers: in this conversation, or for good.";

/** What a person decides. Only what is spelt out here counts as a decision (S14). */
const answer = z.discriminatedUnion("decision", [
  z.strictObject({
    decision: z.literal("allow"),
    input: json.optional().describe("The arguments as a person changed them."),
    remember: z
      .strictObject({ pattern, scope: z.enum(["conversation", "always"]) })
      .optional()
      .describe(REMEMBER),
  }),
  z.strictObject({
    decision: z.literal("deny"),
    reason: text(0, 10_000).optional().describe("Goes to the model."),
    remember: z
      .strictObject({ pattern, scope: z.literal("always") })
      .optional()
      .describe(REMEMBER),
  }),
  z.strictObject({ decision: z.literal("answer"), text: text(0, 100_000).describe("To a question in words.") }),
]);

/** A question of any conversation, with what a person must know to answer it. */
const waiting = z.object({
  ...conversation,
  question,
  call: schemaOf<Call>(call).optional().describe("The call that asks; absent at a limit."),
  ofSubAgent: z.boolean(),
  directory: z.string().optional().describe("That the conversation is about."),
});

/** What a person says to questions, and the rules that came of it. */
export const answerCommands = {
  "question.list": command(
    "Lists what waits for a user in all conversations, whether one is open here, on another server of the database, or nowhere. Questions of sub-agents are included.",
    {},
    z.object({ waiting: list(waiting) }),
  ),
  "question.answer": command(
    "Answers a question: an approval, a limit, or one that a tool asks in words. The first answer counts. When the process is gone that asked it, the answer continues the turn, and the id of the command becomes that of its run.",
    {
      ...conversation,
      question: id,
      answer,
      approval: planApproval
        .optional()
        .describe(
          "With a plan that is allowed while approval is plan: with which approval it is carried out; ask if absent.",
        ),
      tools: clientTools
        .optional()
        .describe(
          "Tools that the client executes, as in `turn.say`, for a turn that the answer continues. A tool that an open call needs and that no client describes stays, without a description.",
        ),
    },
    z.object({
      problem: z
        .string()
        .optional()
        .describe(
          "Why a rule that was to be kept for good is not: one that allows holds in this conversation only, one that denies not at all. Or why the turn does not go on: the answer is kept.",
        ),
    }),
  ),
  "rule.revoke": command(
    "A permission rule that was allowed for this conversation holds no more.",
    { ...conversation, pattern: text(1, 4_000) },
    nothing,
  ),
} as const;
