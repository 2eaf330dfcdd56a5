// The smallest program: one streamed answer.
import { Agent, say } from "@banyan/core";
import { resolveModel } from "@banyan/models";

const agent = new Agent({ model: await resolveModel("openai/gpt-5-mini") });
for await (const text of agent.chat(say("Why are leaves green?")).text) process.stdout.write(text);
