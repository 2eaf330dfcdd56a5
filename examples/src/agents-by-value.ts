// An agent is a tool of another agent: three tasks at the same time, a budget for each and for all, checked results.
import { Agent, Session } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { z } from "zod";

const counter = new Agent({
  name: "counter",
  description: "Counts the trees of one kind.",
  model: scriptedModel(['{ "trees": 12 }', '{ "trees": 20 }', '{ "trees": 10 }']),
  output: z.object({ trees: z.number() }),
  limits: { tokens: 2_000 },
});

const tasks = ["figs", "oaks", "elms"].map((kind) => call("counter", { task: `Count the ${kind}.` }));
const forester = new Agent({
  model: scriptedModel([tasks, '{ "total": 42 }']),
  tools: [counter.asTool()],
  output: z.object({ total: z.number() }),
  limits: { tokens: 10_000 },
});

const session = Session.inMemory();
const { result, usage } = await forester.send("How many trees are there?", { session });
for (const message of session.state.messages.values())
  if (message.role === "assistant") for (const { tool, output } of message.calls) console.log(`${tool}: ${output}`);
console.log(`${result.total} trees, ${usage.output} tokens of output`);
