// A result while the model writes it, and then the checked result.
import { Agent, say } from "@banyan/core";
import { scriptedModel, text } from "@banyan/core/testing";
import { z } from "zod";

const output = z.object({ city: z.string(), days: z.number().default(3) });
const model = scriptedModel([[text('{ "ci', 'ty": "Ro', 'me" }')]], { pace: 10 });
const chat = new Agent({ model, output }).chat(say("Plan a trip to Rome."));

for await (const partial of chat.partialResults()) console.log("partial:", partial);
console.log("result:", (await chat.turn).result);
