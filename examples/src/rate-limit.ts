// Two agents share three model calls per minute. The fourth call waits, and the program ends the wait.
import { Agent, RateLimit, say } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";

const model = scriptedModel(["A poem about rain.", "Too short.", "A poem about rain in spring."]);
const rateLimit = new RateLimit({ requestsPerMinute: 3, tokensPerMinute: 40_000 });
const writer = new Agent({ name: "writer", model, rateLimit });
const critic = new Agent({ name: "critic", model, rateLimit });

const { text } = await writer.send("Write a poem.");
const critique = await critic.send(text);
console.log((await writer.send(critique.text)).text);

const stopping = new AbortController();
for await (const item of critic.chat(say("And now?"), { signal: stopping.signal })) {
  if (item.type !== "model.retrying") continue;
  console.log(item.reason, item.delay > 50_000);
  stopping.abort();
}
