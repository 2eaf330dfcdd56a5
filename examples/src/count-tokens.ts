// The input tokens of a request, before the agent sends it.
import { Agent } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";

const agent = new Agent({ model: scriptedModel([]), instructions: "You are a friendly guide." });
const { tokens, source, reason } = await agent.countTokens("Summarise the book.");
console.log(`${source}: ${tokens} tokens. ${reason}`);
