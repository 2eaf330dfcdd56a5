// A refund needs an approval: the first start asks, and a later start with "yes" or a reason answers.
import { Agent, defineTool, Session } from "@banyan/core";
import { openai } from "@banyan/models/openai";
import { sqliteStore } from "@banyan/store/sqlite";
import { z } from "zod";

const refund = defineTool({
  name: "refund",
  description: "Pays an order back.",
  input: z.object({ order: z.string() }),
  effects: "external",
  execute: ({ order }) => `Order ${order} is paid back.`,
});
const agent = new Agent({ model: openai("gpt-5-mini"), tools: [refund], permission: () => ({ decision: "ask" }) });

await using session = await Session.open(sqliteStore({ directory: "conversations" }), "order-7", { create: true });
const [question] = session.openQuestions;
const [, , word = ""] = process.argv;
const turn = question
  ? await agent.answer(question.id, word === "yes" ? { decision: "allow" } : { decision: "deny", reason: word }, {
      session,
    })
  : await agent.send("Please pay order 7 back.", { session, untilAsked: true });
console.log(turn.reason, turn.text);
