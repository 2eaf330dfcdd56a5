// A result with the type, defaults and transforms of its schema.
import { Agent } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { z } from "zod";

const begins = z.iso.date().transform((text) => new Date(text));
const output = z.object({ city: z.string(), days: z.number().default(3), begins });
const model = scriptedModel(['{ "city": "Rome", "begins": "2026-11-29" }']);
const agent = new Agent({ model, output });

const { result } = await agent.send("Plan a trip to Rome from tomorrow.");
console.log(`${result.city}, ${result.days} days, from ${result.begins.toUTCString()}`);
