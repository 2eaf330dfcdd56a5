import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { emptyConversation } from "../../conversation/state.ts";
import { reduce } from "../../conversation/tree/reduce.ts";
import { Session } from "../../session/session.ts";
import { checkConversation, collect } from "../../testing/index.ts";
import { type Command, notes, Play, progress, replay } from "./play.fixture.ts";
import { storeOf } from "./store.fixture.ts";

const LONG = process.env.BANYAN_LONG === "1";

const command = <Name>(names: readonly Name[]): fc.Arbitrary<Command<Name>> =>
  fc.record({ name: fc.constantFrom(...names), what: fc.nat(1000), how: fc.nat(1000) });

/** Simultaneous actions of clients: any number of notes, and at most one that makes runs move. */
const moment = fc.record({
  notes: fc.array(command(notes), { maxLength: 3 }),
  progress: fc.option(command(progress), { freq: 6, nil: undefined }),
  watch: fc.nat(9).map((number) => number === 0),
});

type Moment = typeof moment extends fc.Arbitrary<infer Value> ? Value : never;

const moments = fc.array(moment, { minLength: 1, maxLength: 40, size: "max" });

/** Plays the actions of clients, compares after each moment, and completes all runs at the end. */
async function play(commands: readonly Moment[], slow: boolean) {
  const store = storeOf([], slow);
  const session = await Session.open(store);
  const both = new Play(session);
  const all = collect(session.feed({ from: { epoch: 1, seq: 0, offset: 0 } }));
  for (const { notes, progress, watch } of commands) {
    if (watch) both.watch();
    for (const note of notes) both.note(note);
    if (progress) both.progress(progress);
    await both.settle();
  }
  both.watch();
  await both.finish();
  both.watch();
  await session.close();
  await both.end();
  return { store, session, items: await all };
}

describe("any commands of several clients at once", () => {
  // The first load of a module on demand takes longer than a moment of the test.
  beforeAll(() =>
    Promise.all([
      import("../../turn/reported-loop.ts"),
      import("../../past/recovery.ts"),
      import("../../context/compaction.ts"),
      import("../../past/history.ts"),
      import("../../context/summary-message.ts"),
      import("../../context/overflow.ts"),
      import("../../context/cut-results.ts"),
      import("../../context/summary-order.ts"),
      import("../../context/summary-writer.ts"),
      import("../count-tokens.ts"),
      import("../mode/partial-result.ts"),
      import("../../context/room.ts"),
    ]),
  );

  test("B21, invariants 1, 3 and 6: the clients build the expected tree, whenever they join, and after reopening", async () => {
    await fc.assert(
      fc.asyncProperty(moments, fc.boolean(), async (commands, slow) => {
        const { store, session, items } = await play(commands, slow);
        expect(checkConversation(session.state)).toEqual([]);
        expect(replay(emptyConversation(session.id), items)).toEqual(session.state);
        const again = await Session.open(store, session.id);
        expect(again.interrupted).toEqual([]);
        expect(again.state).toEqual(session.state);
      }),
      { numRuns: LONG ? 3000 : 300 },
    );
  });

  test("invariant 3: each split of the feed into a snapshot and the rest gives the same state", async () => {
    await fc.assert(
      fc.asyncProperty(moments, async (commands) => {
        const { session, items } = await play(commands, false);
        const growing = emptyConversation(session.id);
        items.forEach((item, index) => {
          const snapshot = structuredClone(growing);
          replay(snapshot, items.slice(index));
          if (!isDeepStrictEqual(snapshot, session.state)) expect(snapshot).toEqual(session.state);
          reduce(growing, item);
        });
      }),
      { numRuns: LONG ? 200 : 10 },
    );
  });
});
