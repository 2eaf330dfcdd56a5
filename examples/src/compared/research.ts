// Three sub-agents share a budget, and their editor returns a typed result.
import { Agent } from "@banyan/core";
import { openai } from "@banyan/models/openai";
import { z } from "zod";

const model = openai("gpt-5-mini");
const researcher = new Agent({ name: "researcher", description: "States three facts about a tree.", model });
const editor = new Agent({
  model,
  tools: [researcher.asTool()],
  output: z.object({ oldest: z.string(), years: z.number() }),
  limits: { tokens: 50_000, depth: 1, policy: "fail" },
});
const { result } = await editor.send("Which is oldest: fig, oak or elm? Ask a researcher about each.");
console.log(`${result.oldest}, ${result.years} years`);
