import { whyNoPostgres } from "@banyan/store/testing";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type EarlierProgram, earlierProgram } from "../../../../scripts/test-program.ts";
import { type End, Era, type Pick } from "./waiting-era.fixture.ts";

/** The first commit whose turns survive the end of their process (F72). */
const FIRST = "c5c4abcfbf1b219873aa35efa19d4cfd00333b3a";

/** Number of server ends per store, and of ends before new conversations begin. */
const ENDS = Number(process.env.BANYAN_ROUNDS ?? (process.env.BANYAN_LONG ? 500 : 6));
const ENDS_OF_AN_ERA = 8;
const SEED = Number(process.env.BANYAN_SEED ?? Date.now() % 2 ** 31);

/** Reproducible random numbers for a seed. */
function random(seed: number): Pick {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 15), state | 1);
    const value = (mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61))) >>> 0;
    return ((value ^ (value >>> 14)) >>> 0) % below;
  };
}

const STORES = whyNoPostgres === undefined ? (["SQLite", "PostgreSQL"] as const) : (["SQLite"] as const);
let earlier: EarlierProgram | string;
beforeAll(async () => {
  earlier = await earlierProgram(FIRST);
});
afterAll(() => {
  if (typeof earlier !== "string") earlier[Symbol.dispose]();
});

describe.each(STORES)(
  "F72, F84: conversations wait for a user while their servers end again and again (%s)",
  (store) => {
    test(`every question is answered once, and each external call starts at most once, over ${ENDS} ends`, {
      timeout: 120_000 + ENDS * 20_000,
    }, async ({ skip }) => {
      if (typeof earlier === "string") return skip(`${earlier}: clone all of it`);
      const ends: End[] = [];
      const begun = performance.now();
      for (let seed = SEED; ends.length < ENDS; seed++) {
        try {
          await using era = await Era.begin(store, earlier, random(seed));
          const wanted = Math.min(ENDS_OF_AN_ERA, ENDS - ends.length);
          while (era.ends.length < wanted) {
            await era.happen();
            await era.end();
          }
          await era.finish();
          ends.push(...era.ends);
        } catch (error) {
          throw new Error(`Seen with BANYAN_SEED=${seed}`, { cause: error });
        }
      }
      const counts = Object.entries(Object.groupBy(ends, (end) => end)).map(([end, all]) => `${all.length} ${end}`);
      const seconds = Math.round((performance.now() - begun) / 1_000);
      console.log(`The soak of what waits, ${store}, seed ${SEED}: ${counts.join(", ")} in ${seconds} s`);
    });
  },
);
