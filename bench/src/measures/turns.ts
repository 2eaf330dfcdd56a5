import { Agent, Session, say } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { forgetfulStore } from "@banyan/store/memory";
import { cpuTime, type Measure } from "../measure.ts";

/** The number of messages of the path that are kept. */
const WINDOW = 20;

const MARKS = [10, 50, 100] as const;

const sessions: Readonly<Record<string, () => Session | Promise<Session>>> = {
  "no store": () => Session.inMemory({ window: WINDOW }),
  "forgetful store": () => Session.open(forgetfulStore(), undefined, { window: WINDOW }),
};

export const turns: Measure = {
  name: "turns",
  what: "a conversation without end: turn after turn with a scripted model and a window of 20 messages (B8)",
  subjects: Object.keys(sessions),
  bounds: [],
  figures: [
    { name: "turns per second", unit: "1/s" },
    { name: "CPU per turn", unit: "µs" },
    ...MARKS.map((mark) => ({ name: `heap at ${mark} %`, unit: "MB" })),
  ],
  targets: [{ figure: "CPU per turn", subject: "forgetful store", most: 20 }],
  rounds: 3,
  async run(subject, { turns: last }) {
    const session = await sessions[subject]?.();
    if (!session) throw new Error(`There is no subject "${subject}".`);
    const sample: Record<string, number> = {};
    let taken = 0;
    let looking = { wall: 0, cpu: 0 };
    const look = (mark: number) => {
      const before = { wall: performance.now(), cpu: cpuTime() };
      globalThis.gc?.();
      sample[`heap at ${mark} %`] = process.memoryUsage().heapUsed / 1e6;
      looking = {
        wall: looking.wall + performance.now() - before.wall,
        cpu: looking.cpu + cpuTime() - before.cpu,
      };
    };
    const agent = new Agent({
      model: scriptedModel(() => "Go on."),
      onTurn: (_, self) => {
        taken++;
        for (const mark of MARKS) if (taken === Math.ceil((last * mark) / 100)) look(mark);
        return taken < last ? self.chat(say("And then?")) : undefined;
      },
    });
    const started = { wall: performance.now(), cpu: cpuTime() };
    let items = 0;
    for await (const _ of agent.chat(say("Tell me a story without end."), { session })) items++;
    const wall = performance.now() - started.wall - looking.wall;
    const cpu = cpuTime() - started.cpu - looking.cpu;
    if (taken !== last || items < last)
      throw new Error(`${taken} turns were taken, and ${items} items seen; ${last} turns were asked for.`);
    return { ...sample, "turns per second": (taken / wall) * 1000, "CPU per turn": (cpu * 1000) / taken };
  },
};
