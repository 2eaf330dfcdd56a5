// The text of a chat while it is written, then the turn with its usage and cost.
import { Agent, say } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";

const agent = new Agent({ model: scriptedModel(["Leaves are green because of chlorophyll."]) });

const chat = agent.chat(say("Why are leaves green?"), { signal: AbortSignal.timeout(60_000) });
for await (const text of chat.text) process.stdout.write(text);

const { reason, usage, cost } = await chat.turn;
console.log(`\n${reason}, ${usage.output} tokens, ${cost ?? 0} dollars`);
