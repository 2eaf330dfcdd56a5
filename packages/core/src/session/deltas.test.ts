import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import { storeOf } from "../agent/several-clients/store.fixture.ts";
import type { Event } from "../conversation/event.ts";
import { defineTool } from "../ports/define-tool.ts";
import { DeltaReader } from "../testing/delta-reader.ts";
import { call, reasoning, scriptedModel, text } from "../testing/scripted-model.ts";
import { Session } from "./session.ts";

const LONG = process.env.BANYAN_LONG === "1";
const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index} `);

/** A turn with reasoning, text, and two sub-agents that write at the same time. */
function talkative(pace: number): Agent {
  const launch = defineTool({
    name: "launch",
    description: "",
    input: { type: "object" },
    effects: "external",
    parallel: true,
    execute: async (_, context) => (await context.launch({ task: "Look around" })).text,
  });
  const model = scriptedModel(
    ({ tools, messages }) => {
      if (tools.some(({ name }) => name === "finish_task"))
        return [text(...words(40)), call("finish_task", { result: "Found.", summary: "Found." })];
      if (messages.at(-1)?.role !== "user") return [text(...words(60))];
      return [reasoning(...words(30)), text(...words(60)), call("launch"), call("launch")];
    },
    { pace },
  );
  return new Agent({ model, tools: [launch], limits: { steps: 10 } });
}

/** Reads a feed in pieces of these lengths, with a pause after each, until the turn is over. */
async function readInPieces(session: Session, reader: DeltaReader, pieces: readonly number[]): Promise<void> {
  for (let round = 0; ; round++) {
    const feed = session.feed({ from: reader.cursor });
    let left = pieces[round % pieces.length] ?? 1;
    for await (const item of feed) {
      reader.take(item);
      if (item.type === "run.ended" && item.leaf === session.state.leaf) return;
      if (--left === 0) break;
    }
    await sleep(left % 7);
  }
}

const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 5, max: 80 })), {
  minLength: 1,
  maxLength: 20,
});

test("W81: a reader of deltas alone has the text of each message after breaks at any moment, each unit once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(lengths, { minLength: 12, maxLength: 24 }), fc.boolean(), async (all, slow) => {
      const session = await Session.open(storeOf([], slow));
      const turn = Array.fromAsync(talkative(3).chat(say("Go"), { session }));
      const readers = all.map(() => new DeltaReader({ epoch: 1, seq: 1, offset: 0 }));
      await Promise.all(readers.map((reader, index) => readInPieces(session, reader, all[index] ?? [1])));
      await turn;
      for (const reader of readers) expect([reader.differences(session.state), reader.again]).toEqual([[], 0]);
      await session.close();
    }),
    { numRuns: LONG ? 100 : 2 },
  );
});

test("F40: after the death of the process, deltas name the rest of each answer, whatever the reader had", async () => {
  const events: Event[] = [];
  const session = await Session.open(storeOf(events, false));
  const live = new DeltaReader({ epoch: 1, seq: 1, offset: 0 });
  const readers: DeltaReader[] = [];
  const deaths: { readonly reader: DeltaReader; readonly log: Event[] }[] = [];
  let seen = 0;
  session.listen({
    items: (items) => {
      for (const item of items) {
        live.take(item);
        readers.push(live.copy());
        if (seen++ % (LONG ? 1 : 7) !== 0) continue;
        // When the process dies, one reader is connected, and another has been away for a while.
        const away = readers[Math.floor(readers.length * 0.8)] ?? live;
        for (const reader of [live, away]) deaths.push({ reader: reader.copy(), log: [...events] });
      }
    },
    ended: () => {},
  });
  await Array.fromAsync(talkative(3).chat(say("Go"), { session }));
  await session.close();
  expect(deaths.length).toBeGreaterThan(50);
  for (const { reader, log } of deaths) {
    const after = await Session.open(storeOf(log, false));
    const missed = after.feed({ from: { seq: 0, offset: 0, ...reader.cursor, epoch: 0 } });
    await after.notes.rename("It goes on");
    for await (const item of missed) {
      reader.take(item);
      if (item.type === "title.changed") break;
    }
    expect(reader.differences(after.state)).toEqual([]);
    await after.close();
  }
});
