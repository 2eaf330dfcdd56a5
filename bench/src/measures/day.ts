import { begin } from "../day/day.ts";
import type { DayProgram } from "../day/program.ts";
import { PROGRAMS_OF_A_DAY } from "../day/programs/index.ts";
import { follow, type Thing, type ThingName, things } from "../day/things.ts";
import type { Measure, Sample } from "../measure.ts";

const NAMES = Object.keys(things) as ThingName[];

export const day: Measure = {
  name: "day",
  what: "twenty things that a person does all day: the keys that they take, and the time from the first key until what is wanted is there; the keys 60 ms apart",
  subjects: Object.keys(PROGRAMS_OF_A_DAY),
  bounds: [],
  rivals: Object.keys(PROGRAMS_OF_A_DAY).filter((name) => name !== "banyan"),
  figures: NAMES.flatMap((name) => [
    { name: `${name}, keys`, unit: "keys" },
    { name: `${name}, time`, unit: "ms" },
  ]),
  rounds: 3,
  async run(subject, { places }) {
    const program = PROGRAMS_OF_A_DAY[subject];
    const place = places[subject];
    if (!program || place === undefined) throw new Error(`${subject} is not there.`);
    const wanted = process.env.BENCH_THINGS?.split(",");
    const sample: Record<string, number> = {};
    for (const name of NAMES) {
      if ("none" in program.ways[name] || !(wanted?.includes(name) ?? true)) continue;
      try {
        const { keys, time } = await timed(name, program, place);
        sample[`${name}, keys`] = keys;
        sample[`${name}, time`] = time;
      } catch (error) {
        console.error(`${subject}, ${name}: ${error instanceof Error ? error.message : error}`);
      }
    }
    return sample satisfies Sample;
  },
};

/** Does one task. Returns time and keys. */
async function timed(name: ThingName, program: DayProgram, place: string): Promise<{ keys: number; time: number }> {
  const thing: Thing = things[name];
  await using day = await begin(program, place, thing.how);
  await thing.before?.(day);
  const began = performance.now();
  const keys = await (thing.act?.(day) ?? follow(day, program.ways[name]));
  await thing.done(day);
  return { keys, time: performance.now() - began };
}
