import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { wholeProgram } from "../../../../../scripts/test-program.ts";
import { leader } from "./expedition.ts";
import { Figures, forAll, instantsOf, Matrix } from "./matrix.ts";
import type { Life } from "./victim.ts";

/** In a short run, the program is killed only at every `SAMPLE`-th instant. */
const SAMPLE = 4;

let matrix: Matrix;
/** An undisturbed run. */
let whole: Life;

beforeAll(async () => {
  matrix = await Matrix.of(
    (folder) => wholeProgram(join(import.meta.dirname, "expedition-program.ts"), folder),
    leader,
  );
  whole = await matrix.live({ what: "begin", directory: matrix.newDirectory() });
});

afterAll(() => matrix[Symbol.asyncDispose]());

describe("a conversation with a call that listens, two sub-agents at once, a question and a summary", () => {
  test("is played to its end when nobody disturbs it", () => {
    const events = whole.seen.flatMap((told) => (told.type === "event" ? [told.event] : []));
    const count = (type: string) => events.filter((event) => event.type === type).length;
    expect(whole.killed).toBe(false);
    expect(count("run.started")).toBe(5);
    expect(count("run.ended")).toBe(5);
    expect(count("call.completed")).toBe(7);
    expect(events.find(({ type }) => type === "call.followed")).toMatchObject({ outcome: "completed" });
    expect(events.find(({ type }) => type === "question.answered")).toMatchObject({ text: "Go north." });
    expect(events.filter((event) => event.type === "message.added" && event.role === "summary")).toHaveLength(1);
    expect(whole.seen.filter(({ type }) => type === "effect")).toHaveLength(2);
  });

  test("B33, B41, B42, F1, F11: killed with -9 at every event, it keeps every invariant", {
    timeout: 300_000,
  }, async () => {
    const figures = new Figures(matrix);
    const instants = instantsOf(whole, SAMPLE);
    await forAll(instants, async (at) => {
      const directory = matrix.newDirectory();
      const life = await matrix.live({ what: "begin", directory, at });
      await figures.add(directory, life, `at instant ${at}`);
    });
    figures.tell("Calls that listen, sub-agents, a question and a summary, killed at every event");
    expect(figures.kills).toBeGreaterThan(instants.length - 5);
  });

  test("the same when whoever goes on with it is killed too, at every event", { timeout: 600_000 }, async () => {
    const listens = whole.seen.findIndex((told) => told.type === "event" && told.event.type === "call.following");
    const at = instantsOf({ ...whole, seen: whole.seen.slice(0, listens + 1) }).length;
    const left = matrix.newDirectory();
    const first = await matrix.live({ what: "begin", directory: left, at });
    const undisturbed = await matrix.live({ what: "go-on", directory: await matrix.copyOf(left) });
    const figures = new Figures(matrix);
    await forAll(instantsOf(undisturbed, SAMPLE), async (at) => {
      const directory = await matrix.copyOf(left);
      const second = await matrix.live({ what: "go-on", directory, at });
      await figures.add(directory, { ...second, seen: [...first.seen, ...second.seen] }, `again at instant ${at}`);
    });
    figures.tell("The same, killed again at every event while somebody goes on");
  });
});
