import { setTimeout as sleep } from "node:timers/promises";
import { Agent, defineTool } from "@banyan/core";
import { call, pause, scriptedModel, text } from "@banyan/core/testing";
import type { Measure } from "../measure.ts";
import { median } from "../statistics.ts";

const TURNS = 20;
/** Milliseconds of the tool's work, and of the message after its call. */
const LOOKING = 60;
const SAYING = 60;

const subjects: Readonly<Record<string, boolean>> = { "after the message": false, eager: true };

export const eager: Measure = {
  name: "eager",
  what: "the time of a turn whose message goes on for 60 ms after a call of 60 ms, which starts when the message is complete, and eagerly (B62)",
  subjects: Object.keys(subjects),
  bounds: ["after the message"],
  figures: [{ name: "turn", unit: "ms" }],
  rounds: 3,
  async run(subject) {
    const look = defineTool({
      name: "look",
      description: "Looks for a while.",
      input: { type: "object" },
      effects: "none",
      eager: subjects[subject] ?? false,
      execute: async (_, { signal }) => {
        await sleep(LOOKING, undefined, { signal });
        return "seen";
      },
    });
    const scene = [text("I look."), call("look"), text(" It"), pause(SAYING), text(" takes a while.")];
    const model = scriptedModel((_, step) => (step % 2 === 0 ? scene : "Done."));
    const agent = new Agent({ model, tools: [look] });
    const times: number[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const began = performance.now();
      await agent.send("Look.");
      times.push(performance.now() - began);
    }
    return { turn: median(times) };
  },
};
