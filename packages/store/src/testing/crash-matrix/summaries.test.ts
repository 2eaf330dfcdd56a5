import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { wholeProgram } from "../../../../../scripts/test-program.ts";
import { Figures, forAll, instantsOf, LONG, Matrix } from "./matrix.ts";
import { digger } from "./summaries.ts";
import type { Life } from "./victim.ts";
import { type Announcement, isInstant } from "./witness.ts";

let matrix: Matrix;
/** An undisturbed run. */
let whole: Life;

beforeAll(async () => {
  matrix = await Matrix.of((folder) => wholeProgram(join(import.meta.dirname, "summaries-program.ts"), folder), digger);
  whole = await matrix.live({ what: "begin", directory: matrix.newDirectory() });
});

afterAll(() => matrix[Symbol.asyncDispose]());

/** Returns whether an announcement concerns a summary, a shortening, their cost, or a waiting hook. */
function isOfSummary(told: Announcement): boolean {
  if (told.type === "hook") return true;
  if (told.type !== "event") return false;
  const { event } = told;
  return event.type === "usage.counted" || (event.type === "message.added" && event.role === "summary");
}

describe("a conversation with summaries in the background and waited for, shortened results, a hook, and a sub-agent", () => {
  test("is played to its end when nobody disturbs it", () => {
    const events = whole.seen.flatMap((told) => (told.type === "event" ? [told.event] : []));
    const added = events.flatMap((event) =>
      event.type === "message.added" && event.role === "summary" ? [event] : [],
    );
    const ofScout = new Set(
      events.flatMap((event) => (event.type === "run.started" && event.call !== undefined ? [event.run] : [])),
    );
    const [own, scouts] = [false, true].map((isScout) => added.filter(({ run }) => ofScout.has(run ?? "") === isScout));
    expect(whole.killed).toBe(false);
    expect(events.filter(({ type }) => type === "usage.counted").length).toBeGreaterThan(1);
    expect(own?.filter(({ covers, usage }) => covers !== undefined && usage === undefined).length).toBeGreaterThan(0);
    expect(own?.filter(({ usage }) => usage !== undefined).length).toBeGreaterThan(0);
    expect(own?.filter(({ covers }) => covers === undefined).length).toBeGreaterThan(0);
    expect(scouts?.filter(({ covers }) => covers !== undefined).length).toBeGreaterThan(0);
    expect(whole.seen.filter(({ type }) => type === "hook").length).toBeGreaterThan(3);
  });

  test("F95, F91, F96: killed with -9 at each event around a summary, a shortening and a waiting hook, it keeps every invariant", {
    timeout: 300_000,
  }, async () => {
    const told = whole.seen.filter((each) => isInstant(each, LONG));
    // A background summary runs between its hook and its cost: each event of the turn in between is an instant too.
    const near = (index: number) => told.slice(Math.max(0, index - 3), index + 3).some(isOfSummary);
    const instants = instantsOf(whole).filter((at) => LONG || near(at - 1));
    const figures = new Figures(matrix);
    await forAll(instants, async (at) => {
      const directory = matrix.newDirectory();
      const life = await matrix.live({ what: "begin", directory, at });
      await figures.add(directory, life, `at instant ${at}`);
    });
    figures.tell("Summaries, shortened results and hooks, killed at every event");
    expect(figures.kills).toBeGreaterThan(instants.length - 5);
  });
});
