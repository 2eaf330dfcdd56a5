import { CLIENTS, connectTo } from "../clients/index.ts";
import { cpuTime, type Lab, type Measure } from "../measure.ts";
import { AGENTS } from "../peers.ts";
import { median } from "../statistics.ts";

/** Rounds per conversation, and the number of measured conversations. */
const LENGTHS = [
  { rounds: 50, conversations: 12 },
  { rounds: 200, conversations: 3 },
  { rounds: 400, conversations: 2 },
] as const;

const GROWTH = "wall time for each earlier step";
const OUTPUT = "A banyan is a fig that begins its life in the crown of another tree. ".repeat(4);

export const loop: Measure = {
  name: "loop",
  what: "CPU for a step in conversations of 50, 200 and 400 rounds of one tool call; and how a step grows with those before it",
  subjects: CLIENTS,
  bounds: ["hand-written", "provider-package"],
  rivals: AGENTS,
  figures: [...LENGTHS.map(({ rounds }) => ({ name: `${rounds} rounds`, unit: "ms" })), { name: GROWTH, unit: "µs" }],
  targets: [
    ...LENGTHS.flatMap(({ rounds }) => [
      { figure: `${rounds} rounds`, subject: "engine", of: "best peer", most: 0.4 },
      { figure: `${rounds} rounds`, subject: "engine, SQLite", of: "best peer", most: 1 },
    ]),
    { figure: GROWTH, subject: "engine", most: 3 },
  ],
  rounds: 5,
  async run(subject, lab) {
    const sample: Record<string, number> = {};
    await converse(lab, subject, 50, 16);
    for (const { rounds, conversations } of LENGTHS) {
      const { cpu, growth } = await converse(lab, subject, rounds, conversations);
      sample[`${rounds} rounds`] = cpu;
      // The value of the longest conversations remains.
      sample[GROWTH] = growth;
    }
    return sample;
  },
};

/** Returns the CPU time of a step in ms, and the growth of a step with each earlier step in µs. */
async function converse(
  lab: Lab,
  subject: string,
  rounds: number,
  count: number,
): Promise<{ cpu: number; growth: number }> {
  const client = await connectTo(lab, `loop/${rounds}`, subject);
  let cpu = 0;
  const growths: number[] = [];
  for (let i = 0; i < count; i++) {
    const looked: number[] = [];
    const conversation = await client.open(() => {
      looked.push(performance.now());
      return OUTPUT;
    });
    const started = cpuTime();
    await conversation.ask("Read all chapters, one after the other.");
    cpu += cpuTime() - started;
    // An open conversation would be closed by the garbage collector, during a later one and at its cost.
    await conversation.close?.();
    if (looked.length !== rounds) throw new Error(`${looked.length} calls ran; ${rounds} were asked for.`);
    growths.push(growthOf(looked));
  }
  return { cpu: cpu / (count * (rounds + 1)), growth: median(growths) };
}

/** Returns the growth of a step with each earlier step in µs: the last quarter of the steps against the first. */
function growthOf(looked: readonly number[]): number {
  const steps = looked.slice(1).map((at, index) => (at - (looked[index] ?? at)) * 1000);
  const quarter = Math.floor(steps.length / 4);
  return (median(steps.slice(-quarter)) - median(steps.slice(0, quarter))) / (steps.length - quarter);
}
