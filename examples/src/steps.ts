// The first step must search, and may not order. The model reads a short text in place of the rows.
import { Agent, defineTool } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { z } from "zod";

const search = defineTool({
  name: "search",
  description: "Finds plants by their name.",
  input: z.object({ name: z.string() }),
  effects: "none",
  execute: ({ name }) => [4, 9, 20].map((price) => ({ name, price })),
  toModelOutput: (rows) => `${rows.length} plants, from $${rows[0]?.price}.`,
});
const order = defineTool({
  name: "order",
  description: "Orders a plant.",
  input: z.object({ name: z.string() }),
  effects: "external",
  execute: ({ name }) => `Ordered: ${name}.`,
});

const model = scriptedModel([
  [call("search", { name: "fern" })],
  [call("order", { name: "fern" })],
  "It is on its way.",
]);
const agent = new Agent({
  model,
  tools: [search, order],
  toolChoice: { tool: "search" },
  settings: { topP: 0.9, seed: 7, stop: ["END"] },
  toolsFor: ({ step }) => (step === 1 ? ["search"] : undefined),
  callbacks: { onCall: ({ output, modelOutput = output }) => console.log(`${output}\nfor the model: ${modelOutput}`) },
});
console.log((await agent.send("Order a fern.")).text);

for (const { tools, toolChoice } of model.requests)
  console.log(tools.map(({ name }) => name).join(", "), JSON.stringify(toolChoice));
