import { play } from "../compaction/play.ts";
import { banyan } from "../compaction/programs/banyan.ts";
import { PEERS_THAT_COMPACT, peerAt } from "../compaction/programs/peers.ts";
import type { CompactingProgram } from "../compaction/programs/program.ts";
import type { Measure, Places } from "../measure.ts";

const SUMMARISERS = ["repeats all", "forgets 10 %", "says only that the work continues"] as const;
const SUMMARIES = [1, 5, 20];
/** Tokens. The defaults of all programs suit this window; `BENCH_WINDOW` overrides it. */
const WINDOW = 200_000;

const figureOf = (summariser: string, number: number) => `summary ${number}, the model ${summariser}`;

export const compaction: Measure = {
  name: "compaction",
  what: "how many of 20 things said and done the request behind a summary tells, of those that a program can have: 20, codex and opencode 19, pi 16; more is better",
  subjects: ["banyan", ...Object.keys(PEERS_THAT_COMPACT)],
  bounds: [],
  figures: SUMMARISERS.flatMap((summariser) =>
    SUMMARIES.map((number) => ({ name: figureOf(summariser, number), unit: "items" })),
  ),
  rounds: 1,
  async run(subject, { places }) {
    const window = Number(process.env.BENCH_WINDOW ?? WINDOW);
    const sample: Record<string, number> = {};
    for (const summariser of SUMMARISERS) {
      const { recalls, failed } = await play(programOf(subject, places), { seed: 1, window, summariser });
      for (const problem of failed) console.error(`${subject}, ${summariser}: ${problem}`);
      for (const number of SUMMARIES) {
        const told = recalls[number - 1]?.told.length;
        if (told !== undefined) sample[figureOf(summariser, number)] = told;
      }
    }
    return sample;
  },
};

function programOf(subject: string, places: Places): CompactingProgram {
  if (subject === "banyan") return banyan;
  const peer = Object.entries(PEERS_THAT_COMPACT).find(([name]) => name === subject)?.[1];
  const place = places[subject];
  if (!peer || place === undefined) throw new Error(`${subject} is not there.`);
  return peerAt(peer, place);
}
