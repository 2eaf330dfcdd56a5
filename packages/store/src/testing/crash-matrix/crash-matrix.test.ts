import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { wholeProgram } from "../../../../../scripts/test-program.ts";
import { traveller } from "./journey.ts";
import { Figures, forAll, instantsOf, LONG, Matrix } from "./matrix.ts";
import type { Life } from "./victim.ts";
import { isInstant } from "./witness.ts";

const SEED = 20_260_101;
/** In a short run, the continuing process is also killed, but only for every `SAMPLE`-th instant. */
const SAMPLE = 3;

let matrix: Matrix;
/** An undisturbed run. */
let whole: Life;

beforeAll(async () => {
  matrix = await Matrix.of((folder) => wholeProgram(join(import.meta.dirname, "program.ts"), folder), traveller);
  whole = await matrix.live({ what: "begin", directory: matrix.newDirectory() });
});

afterAll(() => matrix[Symbol.asyncDispose]());

describe("a conversation with two live branches, three parallel calls, a steer, a queue entry and an approval", () => {
  test("is played to its end when nobody disturbs it", () => {
    const events = whole.seen.flatMap((told) => (told.type === "event" ? [told.event] : []));
    const count = (type: string) => events.filter((event) => event.type === type).length;
    expect(whole.killed).toBe(false);
    expect(count("run.started")).toBe(4);
    expect(count("run.ended")).toBe(4);
    expect(count("call.completed")).toBe(10);
    expect(count("input.delivered")).toBe(2);
    expect(count("call.approval-resolved")).toBe(1);
    expect(count("message.checkpoint")).toBeGreaterThan(0);
    expect(whole.seen.filter(({ type }) => type === "effect")).toHaveLength(10);
  });

  test("F1, F9, F11, F16, F22: killed with -9 at every event, it keeps every invariant", {
    timeout: 300_000,
  }, async () => {
    const figures = new Figures(matrix);
    await forAll(instantsOf(whole), async (at) => {
      const directory = matrix.newDirectory();
      const life = await matrix.live({ what: "begin", directory, at });
      await figures.add(directory, life, `at instant ${at}`);
    });
    figures.tell("Killed at every event");
    expect(figures.kills).toBeGreaterThan(instantsOf(whole).length - 5);
  });

  test("the same at random instants", { timeout: 600_000 }, async () => {
    const figures = new Figures(matrix);
    const moment = fc.record({
      announcement: fc.integer({ min: 1, max: whole.seen.length }),
      milliseconds: fc.double({ min: 0, max: 12, noNaN: true }),
    });
    const moments = fc.sample(moment, { numRuns: LONG ? 200 : 10, seed: SEED });
    await forAll(moments, async (after) => {
      const directory = matrix.newDirectory();
      const life = await matrix.live({ what: "begin", directory, after });
      await figures.add(directory, life, `${after.milliseconds} ms after announcement ${after.announcement}`);
    });
    figures.tell(`Killed at random instants (seed ${SEED})`);
  });

  test("the same when whoever goes on with it is killed too, at every event", { timeout: 600_000 }, async () => {
    const queued = whole.seen.filter((told) => isInstant(told, LONG)).findLastIndex(({ type }) => type === "said");
    const left = matrix.newDirectory();
    const first = await matrix.live({ what: "begin", directory: left, at: queued + 1 });
    const undisturbed = await matrix.live({ what: "go-on", directory: await matrix.copyOf(left) });
    const figures = new Figures(matrix);
    await forAll(instantsOf(undisturbed, SAMPLE), async (at) => {
      const directory = await matrix.copyOf(left);
      const second = await matrix.live({ what: "go-on", directory, at });
      await figures.add(directory, { ...second, seen: [...first.seen, ...second.seen] }, `again at instant ${at}`);
    });
    figures.tell("Killed again at every event while somebody goes on");
  });
});
