import { Agent, defineTool, type Follower } from "@banyan/core";
import { call, parts, scriptedModel } from "@banyan/core/testing";
import { cpuTime, type Measure } from "../measure.ts";

/** Fragments of the answer, each in a separate batch, like from a socket. */
const FRAGMENTS = 200_000;

/** The number of following calls. */
const listeners: Readonly<Record<string, number>> = { "nobody listens": 0, "one listens": 1, "ten listen": 10 };

export const follow: Measure = {
  name: "follow",
  what: "an answer of 200,000 fragments with a scripted model, while calls listen to it (B25)",
  subjects: Object.keys(listeners),
  bounds: ["nobody listens"],
  figures: [{ name: "CPU per fragment", unit: "µs" }],
  rounds: 5,
  async run(subject) {
    const count = listeners[subject];
    if (count === undefined) throw new Error(`There is no subject "${subject}".`);
    let heard = 0;
    const follower: Follower = {
      text: (delta) => {
        heard += delta.length;
      },
    };
    const listen = defineTool({
      name: "listen",
      description: "Listens.",
      input: { type: "object" },
      effects: "none",
      execute: (_, context) => context.follow(follower),
    });
    const fragment = parts({ type: "text", text: "word " });
    const model = scriptedModel([
      count === 0 ? "Nothing to listen to." : Array.from({ length: count }, () => call("listen")),
      Array.from({ length: FRAGMENTS }, () => fragment),
    ]);
    const agent = new Agent({ model, tools: [listen] });
    // Without listeners, the first turn is one answer; the second turn is measured in both cases.
    if (count === 0) await agent.send("Begin.");
    const began = cpuTime();
    await agent.send("Go on.");
    const cpu = cpuTime() - began;
    if (heard !== count * FRAGMENTS * 5) throw new Error(`${heard} characters were heard.`);
    return { "CPU per fragment": (cpu * 1000) / FRAGMENTS };
  },
};
