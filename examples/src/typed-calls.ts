// The calls of a tool in the stream, with the types of the tool's schema.
import { Agent, defineTool, isCallOf, say } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "Returns the weather of a city.",
  input: z.object({ city: z.string(), days: z.number().default(1) }),
  effects: "none",
  execute: ({ city }) => `It is sunny in ${city}.`,
});
const model = scriptedModel([[call("weather", { city: "Rome" })], "Take your sunglasses."]);
const agent = new Agent({ model, tools: [weather] });

for await (const item of agent.chat(say("What do I need in Rome?"))) {
  if (isCallOf(item, weather)) console.log(`${item.input.city}, ${item.input.days} day: ${item.output}`);
}
