import { describe, expect, test, vi } from "vitest";
import { readBaselines, regressions } from "./baselines.ts";
import { inOwnProcess, Provider } from "./child.ts";
import type { Measure, Sample } from "./measure.ts";
import { loop } from "./measures/loop.ts";
import { stream } from "./measures/stream.ts";
import { type Row, summarise } from "./results.ts";

// Takes some ten seconds, unless the machine is busy or something became slow.
vi.setConfig({ testTimeout: 20 * 60_000 });

const SUBJECTS = ["hand-written", "engine"];
const ROUNDS = 3;
const MOST_ROUNDS = 9;

// Only in long mode: other load would make the test slow, and `npm run bench` measures more.
describe.runIf(process.env.BANYAN_LONG)(
  "the CPU time of the engine, as a multiple of a client written by hand, is about what it was",
  () => {
    const measures: readonly { readonly measure: Measure; readonly figures: readonly string[] }[] = [
      { measure: stream, figures: ["CPU per chunk"] },
      { measure: loop, figures: ["50 rounds", "400 rounds"] },
    ];
    test.each(measures)("in $measure.name", async ({ measure, figures }) => {
      using provider = await Provider.start();
      const samples = new Map<string, Sample[]>(SUBJECTS.map((subject) => [subject, []]));
      let found: string[] = [];
      for (let round = 1; round <= MOST_ROUNDS; round++) {
        for (const [subject, taken] of samples) taken.push(await sampleOf(measure, subject, provider.address));
        const rows = summarise(measure, best(samples)).filter(({ figure }) => figures.includes(figure));
        expect(rows).toHaveLength(figures.length * SUBJECTS.length);
        found = regressions(measure.name, rows, readBaselines());
        if (round >= ROUNDS && found.length === 0) break;
      }
      expect(found).toEqual([]);
    });
  },
);

async function sampleOf({ name: measure }: Measure, subject: string, provider: string): Promise<Sample> {
  const outcome = await inOwnProcess({ measure, subject, lab: { provider, turns: 1, places: {} } });
  if ("problem" in outcome) throw new Error(outcome.problem);
  return outcome.sample;
}

/** Returns the least value of each figure and subject: other load only increases a value. */
function best(samples: ReadonlyMap<string, readonly Sample[]>): Map<string, Sample[]> {
  const leastOf = (taken: readonly Sample[]) => {
    const figures = Object.keys(taken[0] ?? {});
    return Object.fromEntries(
      figures.map((figure) => [figure, Math.min(...taken.map((sample) => sample[figure] ?? Number.NaN))]),
    );
  };
  return new Map([...samples].map(([subject, taken]) => [subject, [leastOf(taken)]]));
}

describe("a ratio", () => {
  const baselines = { walk: { time: { snail: { horse: 4 } } } };
  const row = (ratio: number): Row => ({
    figure: "time",
    unit: "min",
    subject: "snail",
    median: 1,
    least: 1,
    most: 1,
    ratios: { horse: ratio, hare: 100 },
  });

  test("that is clearly more than its baseline is told", () => {
    expect(regressions("walk", [row(9)], baselines)).toEqual(["time, snail: 9.00 times horse; the baseline is 4."]);
  });

  test("that is a little more, or has no baseline, is not", () => {
    expect(regressions("walk", [row(5)], baselines)).toEqual([]);
    expect(regressions("run", [row(9)], baselines)).toEqual([]);
  });

  test("of somebody else to ours is not: it is more when we became faster", () => {
    const known = { walk: { time: { snail: { engine: 4 }, "engine, SQLite": { engine: 4 } } } };
    const slower = [row(1), { ...row(1), subject: "engine, SQLite" }].map((one) => ({ ...one, ratios: { engine: 9 } }));
    expect(regressions("walk", slower, known)).toEqual(["time, engine, SQLite: 9.00 times engine; the baseline is 4."]);
  });
});
