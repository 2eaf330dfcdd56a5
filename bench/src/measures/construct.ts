import { connectTo } from "../clients/index.ts";
import type { Measure } from "../measure.ts";
import { AGENTS } from "../peers.ts";

const WARM_UP = 20_000;
const TIMED = 100_000;
const KEPT = 20_000;

/** TanStack AI has no agent. */
const WITH_AGENTS = AGENTS.filter((name) => name !== "tanstack-ai");

export const construct: Measure = {
  name: "construct",
  what: "what it takes to make an agent without tools over a model that is there",
  subjects: ["engine", ...WITH_AGENTS],
  bounds: [],
  rivals: WITH_AGENTS,
  figures: [
    { name: "time", unit: "µs" },
    { name: "heap", unit: "bytes" },
  ],
  targets: [
    { figure: "time", subject: "engine", most: 1 },
    { figure: "heap", subject: "engine", most: 500 },
  ],
  rounds: 5,
  async run(subject, lab) {
    const { agent } = await connectTo(lab, "loop/1", subject);
    if (!agent) throw new Error(`${subject} has no agents.`);
    const make = (count: number) => {
      const began = performance.now();
      for (let made = 0; made < count; made++) agent();
      return ((performance.now() - began) / count) * 1000;
    };
    make(WARM_UP);
    const time = make(TIMED);
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    const kept = Array.from({ length: KEPT }, () => agent());
    globalThis.gc?.();
    return { time, heap: (process.memoryUsage().heapUsed - before) / kept.length };
  },
};
