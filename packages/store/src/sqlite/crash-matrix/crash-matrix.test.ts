import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Session } from "@banyan/core";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readAll } from "../fixture.ts";
import { sqliteStore } from "../index.ts";
import { goOn } from "./go-on.ts";
import { type Aftermath, doubleStartsIn, lossesIn, problemsOf, textLostIn } from "./invariants.ts";
import { traveller, World } from "./journey.ts";
import { type Life, live } from "./victim.ts";
import { type Announcement, isInstant } from "./witness.ts";

const LONG = process.env.BANYAN_LONG === "1";
/** Programs that run at once: each mostly waits. */
const AT_ONCE = 4;
const SEED = 20_260_101;

let root = "";
let made = 0;
/** A conversation that nobody disturbed. */
let whole: Life;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "banyan-crash-"));
  whole = await live({ what: "begin", directory: newDirectory(), every: LONG });
}, 60_000);

afterAll(() => rm(root, { recursive: true, force: true }));

function newDirectory(): string {
  return join(root, String(made++));
}

async function copyOf(directory: string): Promise<string> {
  const copy = newDirectory();
  await cp(directory, copy, { recursive: true });
  return copy;
}

/** Goes on with a conversation whose process is gone, and tells what came of it. */
async function aftermathOf(
  directory: string,
  seen: readonly Announcement[],
  how: "resume" | "say",
): Promise<Aftermath> {
  const store = sqliteStore({ directory });
  try {
    const [conversation] = await store.list();
    const id = conversation?.id;
    const before = await store.open(id ?? "0000000000", { create: true });
    const kept = await readAll(before);
    await before.close();
    const session = await Session.open(store, id);
    const world = new World(directory);
    await goOn(session, traveller(world), how);
    await session.close();
    const after = await store.open(session.id);
    const log = await readAll(after);
    await after.close();
    const again = await Session.open(store, session.id);
    await again.close();
    return { seen, kept, log, state: session.state, reopened: again.state, effects: world.effects() };
  } finally {
    await store.close();
  }
}

/** What was found over many crashes. */
class Figures {
  kills = 0;
  losses = 0;
  doubleStarts = 0;
  textLost = 0;
  readonly problems: string[] = [];
  readonly #lengths = new Set<number>();

  /** Both ways to go on after a crash, each from what it left. */
  async add(directory: string, { killed, seen }: Life, moment: string): Promise<void> {
    if (killed) this.kills++;
    for (const how of ["resume", "say"] as const) {
      const aftermath = await aftermathOf(await copyOf(directory), seen, how);
      this.losses += lossesIn(aftermath).length;
      this.doubleStarts += doubleStartsIn(aftermath).length;
      this.textLost = Math.max(this.textLost, textLostIn(aftermath));
      this.#lengths.add(aftermath.kept.length);
      this.problems.push(...problemsOf(aftermath).map((problem) => `Killed ${moment}, then ${how}: ${problem}`));
    }
    await rm(directory, { recursive: true });
  }

  /** Prints the figures, then fails if an invariant did not hold. */
  tell(what: string): void {
    const { kills, losses, doubleStarts, textLost } = this;
    process.stdout.write(
      `${what}: ${kills} kills, ${this.#lengths.size} different logs left, ${losses} acknowledged facts lost, ` +
        `${doubleStarts} double starts, at most ${textLost} characters of streaming text lost\n`,
    );
    expect(this.problems).toEqual([]);
  }
}

/** Does something for each item, a few at once. */
async function forAll<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await act(item);
  };
  // All have ended before the first failure is told: no program outlives its test.
  const workers = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const end of workers) if (end.status === "rejected") throw end.reason;
}

function instantsOf({ seen }: Life): number[] {
  return seen.filter((told) => isInstant(told, LONG)).map((_, index) => index + 1);
}

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
    const figures = new Figures();
    await forAll(instantsOf(whole), async (at) => {
      const directory = newDirectory();
      const life = await live({ what: "begin", directory, at, every: LONG });
      await figures.add(directory, life, `at instant ${at}`);
    });
    figures.tell("Killed at every event");
    expect(figures.kills).toBeGreaterThan(instantsOf(whole).length - 5);
  });

  test("the same at random instants", { timeout: 600_000 }, async () => {
    const figures = new Figures();
    const moment = fc.record({
      announcement: fc.integer({ min: 1, max: whole.seen.length }),
      milliseconds: fc.double({ min: 0, max: 12, noNaN: true }),
    });
    const moments = fc.sample(moment, { numRuns: LONG ? 200 : 10, seed: SEED });
    await forAll(moments, async (after) => {
      const directory = newDirectory();
      const life = await live({ what: "begin", directory, every: LONG, after });
      await figures.add(directory, life, `${after.milliseconds} ms after announcement ${after.announcement}`);
    });
    figures.tell(`Killed at random instants (seed ${SEED})`);
  });

  test("the same when whoever goes on with it is killed too, at every event", { timeout: 600_000 }, async () => {
    const queued = whole.seen.filter((told) => isInstant(told, LONG)).findLastIndex(({ type }) => type === "said");
    const left = newDirectory();
    const first = await live({ what: "begin", directory: left, at: queued + 1, every: LONG });
    const undisturbed = await live({ what: "go-on", directory: await copyOf(left), every: LONG });
    const figures = new Figures();
    await forAll(instantsOf(undisturbed), async (at) => {
      const directory = await copyOf(left);
      const second = await live({ what: "go-on", directory, at, every: LONG });
      await figures.add(directory, { ...second, seen: [...first.seen, ...second.seen] }, `again at instant ${at}`);
    });
    figures.tell("Killed again at every event while somebody goes on");
  });
});
