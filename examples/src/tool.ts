// The model calls two tools: `weather` fails and gets invalid arguments, and `water` takes too long.
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, defineTool, say } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "Tells the weather of a city. Use it before you recommend what to wear.",
  input: z.object({ city: z.string().describe("Its name in English") }),
  effects: "none",
  execute({ city }) {
    if (city === "Atlantis") throw new Error(`${city} has no weather station.`);
    return { city, celsius: 21 };
  },
});

const water = defineTool({
  name: "water",
  description: "Waters the garden. Ends by itself when the ground is wet.",
  input: { type: "object" },
  effects: "external",
  timeout: 50,
  async execute(_, { signal, progress }) {
    progress("The tap is open.");
    await sleep(60_000, undefined, { signal });
  },
});

const model = scriptedModel([
  [call("weather", { city: "Utrecht" }), call("weather", { city: "Atlantis" }), call("weather", { town: "Utrecht" })],
  [call("water")],
  "It is 21 degrees in Utrecht.",
]);
for await (const item of new Agent({ model, tools: [weather, water] }).chat(say("Shall I water the garden?"))) {
  if (item.type === "call.output.delta") console.log(`progress: ${item.text}`);
  if (item.type === "call.completed" || item.type === "call.failed") console.log(`${item.type}: ${item.output}`);
}
