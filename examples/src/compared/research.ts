// Three sub-agents share a budget, and their editor returns a typed result.
import { Agent, launchAgent } from "@banyan/core";
import { resolveModel } from "@banyan/models";
import { z } from "zod";

const agents = [{ name: "researcher", description: "Finds facts.", instructions: "State three facts about a tree." }];
const editor = new Agent({
  model: await resolveModel("openai/gpt-5-mini"),
  tools: [launchAgent({ agents })],
  output: z.object({ oldest: z.string(), years: z.number() }),
  limits: { tokens: 50_000, depth: 1, policy: "fail" },
});
const { result } = await editor.send("Which is oldest: fig, oak or elm? Launch a researcher for each.");
console.log(`${result.oldest}, ${result.years} years`);
