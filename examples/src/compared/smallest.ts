// The smallest program: one streamed answer.
import { Agent, say } from "@banyan/core";
import { openai } from "@banyan/models/openai";

const agent = new Agent({ model: openai("gpt-5-mini") });
for await (const text of agent.chat(say("Why are leaves green?")).text) process.stdout.write(text);
