// Mastra: three sub-agents share a budget, and their editor returns a typed result.
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

const budget = { tokens: 50_000, abort: new AbortController() };
const spend = ({ usage }: { usage: { totalTokens?: number | undefined } }) => {
  budget.tokens -= usage.totalTokens ?? 0;
  if (budget.tokens < 0) budget.abort.abort(new Error("The budget of 50,000 tokens is used up."));
};
const model = "openai/gpt-5-mini";
const researcher = new Agent({
  id: "researcher",
  name: "researcher",
  model,
  instructions: "State three facts about a tree.",
});
const askResearcher = createTool({
  id: "researcher",
  description: "Finds facts.",
  inputSchema: z.object({ task: z.string() }),
  async execute({ task }) {
    const { text } = await researcher.generate(task, { abortSignal: budget.abort.signal, onStepFinish: spend });
    return text;
  },
});
const editor = new Agent({
  id: "editor",
  name: "editor",
  model,
  instructions: "You compare trees.",
  tools: { researcher: askResearcher },
});
const { object } = await editor.generate("Which is oldest: fig, oak or elm? Ask a researcher about each.", {
  structuredOutput: { schema: z.object({ oldest: z.string(), years: z.number() }) },
  abortSignal: budget.abort.signal,
  onStepFinish: spend,
});
budget.abort.signal.throwIfAborted();
console.log(`${object.oldest}, ${object.years} years`);
