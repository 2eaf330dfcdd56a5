// OpenAI Agents: a refund needs an approval, which a later start gives with "yes" or a reason.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, RunState, run, tool } from "@openai/agents";
import { z } from "zod";

const refund = tool({
  name: "refund",
  description: "Pays an order back.",
  parameters: z.object({ order: z.string() }),
  needsApproval: true,
  execute: ({ order }) => `Order ${order} is paid back.`,
});
const agent = new Agent({ name: "clerk", model: "gpt-5-mini", tools: [refund] });

const file = "order-7.json";
const word = process.argv[2];
const state = existsSync(file) ? await RunState.fromString(agent, readFileSync(file, "utf8")) : undefined;
for (const question of state?.getInterruptions() ?? []) {
  if (word === "yes") state?.approve(question);
  else state?.reject(question, { message: word });
}
const result = state ? await run(agent, state) : await run(agent, "Please pay order 7 back.");
if (result.interruptions.length > 0) {
  writeFileSync(file, result.state.toString());
  console.log("waiting");
} else {
  rmSync(file, { force: true });
  console.log("answered", result.finalOutput);
}
