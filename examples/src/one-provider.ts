// A model from the entry of its provider: small in a bundle, without a catalogue of names and prices. Nothing is sent.
import { Agent } from "@banyan/core";
import { openai } from "@banyan/models/openai";

const model = openai("gpt-5.4:high", { apiKey: "any", price: { input: 1.25, output: 10 } });
const agent = new Agent({ model, instructions: "You are a friendly guide." });
console.log(`${agent.name} asks ${model.id}, which costs $${model.price?.output} per million tokens of output`);
