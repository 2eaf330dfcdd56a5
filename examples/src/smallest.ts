import { Agent, launchAgent, say } from "@banyan/core";
import { resolveModel } from "@banyan/models";

const model = await resolveModel("demo/offline", { env: process.env });
const agent = new Agent({ model, instructions: "You are a friendly guide.", tools: [launchAgent()] });

for await (const item of agent.chat(say("What can you do?"))) {
  if (item.type === "text.delta" && item.depth === 0) process.stdout.write(item.text);
}
