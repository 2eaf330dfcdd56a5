// A user allows a call the next day: `ask` is one request of a web server, `answer QUESTION yes` is another, in another process.
import { appendFileSync } from "node:fs";
import { Agent, type Answer, defineTool, Session, type Store } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { postgresStore } from "@banyan/store/postgres";
import { sqliteStore } from "@banyan/store/sqlite";
import { z } from "zod";

const order = z.object({ order: z.string() });
const lookUp = defineTool({
  name: "look_up",
  description: "Looks up an order.",
  input: order,
  effects: "none",
  execute: async () => {
    await new Promise((resolve) => setTimeout(resolve, Number(process.env.LOOK_UP_MS ?? 0)));
    return "12 EUR, paid by card.";
  },
});
const refund = defineTool({
  name: "refund",
  description: "Pays an order back.",
  input: order,
  effects: "external",
  execute({ order }) {
    appendFileSync("refunds.txt", `order ${order}\n`);
    return "12 EUR are on their way.";
  },
});

const seven = { order: "7" };
const model = scriptedModel(({ messages }) =>
  messages.length === 1 ? [call("look_up", seven), call("refund", seven)] : "I have paid order 7 back.",
);
// Each process makes the same agent.
const agent = new Agent({
  model,
  tools: [lookUp, refund],
  permission: ({ tool }) => ({ decision: tool.effects === "none" ? "allow" : "ask" }),
});

async function ask(store: Store, text: string) {
  await using session = await Session.open(store, "order-7", { create: true });
  return await agent.send(text, { session, untilAsked: true });
}

async function answer(store: Store, question: string, answer: Answer) {
  await using session = await Session.open(store, "order-7");
  return await agent.answer(question, answer, { session });
}

const [request, question = "", word = ""] = process.argv.slice(2);
const { DATABASE } = process.env;
const store = DATABASE === undefined ? sqliteStore({ directory: "conversations" }) : postgresStore(DATABASE);
const decision: Answer = word === "yes" ? { decision: "allow" } : { decision: "deny", reason: word };
const turn =
  request === "answer" ? await answer(store, question, decision) : await ask(store, "Please pay order 7 back.");
console.log(turn.reason, turn.questions[0]?.id ?? turn.text);
await store.close();
