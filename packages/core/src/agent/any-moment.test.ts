import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Event } from "../conversation/event.ts";
import { isEvent } from "../conversation/feed-item.ts";
import { createId } from "../conversation/id.ts";
import { Session } from "../session/session.ts";
import {
  agentPlaying,
  type Client,
  COMMANDS,
  type Command,
  Moments,
  modelPlaying,
  SCENES,
  type SceneName,
  Starts,
  WHOLE,
} from "../testing/moments.fixture.ts";
import { Agent } from "./agent.ts";
import { storeOf } from "./several-clients/store.fixture.ts";

const LONG = process.env.BANYAN_LONG === "1";

const commands = fc.array(fc.record({ name: fc.constantFrom(...COMMANDS), at: fc.nat(120), what: fc.nat(1000) }), {
  minLength: 1,
  maxLength: 16,
  size: "max",
});
const scenes = fc.array(fc.constantFrom(...(Object.keys(SCENES) as SceneName[])), {
  minLength: 2,
  maxLength: 12,
  size: "max",
});

/** Refusals that a client must expect: the place or question is gone, or there is nothing to do. */
const REFUSALS = ["SessionError", "DirectiveError", "Interruption", "TurnError"];

/** A client in the process of the session. */
function clientOf(session: Session, agent: Agent): Client {
  return {
    state: session.state,
    isRefusal: (error) => error instanceof Error && REFUSALS.includes(error.name),
    newId: createId,
    async begin(directive, { at, id }) {
      await Array.fromAsync(agent.chat(directive, { session, at, id }));
      // The turn may have been interrupted before it began.
      return false;
    },
    send: (words) => agent.send(words, { session }),
    input: (words, options) => session.say(words, options),
    rewrite: (input, words) => session.editInput(input, { parts: [{ type: "text", text: words }] }),
    withdraw: (input) => session.withdrawInput(input),
    interrupt: async (run) => session.interrupt(run),
    compact: (at) => agent.compact({ session, at }),
    remove: (message) => session.notes.remove(message),
    restore: (message) => session.notes.restore(message),
    answer: (question, answer) => session.answer(question, answer),
  };
}

/** Plays a conversation with these commands, and returns its faults. */
async function played(names: readonly SceneName[], plan: readonly Command[], slow: boolean) {
  const session = await Session.open(storeOf([], slow));
  const starts = new Starts();
  const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve));
  const agent = new Agent({ ...agentPlaying(starts, turnOfTheLoop), model: modelPlaying(names) });
  const moments = new Moments([clientOf(session, agent)], plan);
  const log: Event[] = [];
  session.listen({
    items: (items) => {
      for (const item of items) if (isEvent(item)) log.push(item);
      moments.heard(items.length);
    },
    ended: () => {},
  });
  const moment = async () => {
    for (let turn = 0; turn < 4; turn++) await turnOfTheLoop();
    // Waits for the retry of a model.
    await sleep(1);
  };
  await moments.play(moment, 100);
  const problems = [...moments.check(session.state, log), ...starts.problems];
  await session.close();
  return { problems, seen: moments.seen, log };
}

describe("commands at any moment of a turn", () => {
  test.each(COMMANDS)("F25: %s, behind each item of the feed of a whole turn", async (name) => {
    const { seen, log } = await played(WHOLE, [], false);
    expect(seen).toBeGreaterThan(80);
    expect(log).toContainEqual(expect.objectContaining({ type: "message.added", role: "summary" }));
    // The commands start at different offsets, so that together they cover all moments.
    for (let at = LONG ? 0 : COMMANDS.indexOf(name) % 3; at < seen; at += LONG ? 1 : 3) {
      const { problems } = await played(WHOLE, [{ name, at, what: at }], at % 2 === 0);
      expect(problems, `behind ${at} items`).toEqual([]);
    }
  });

  test("F25: a branch has one run, each call has one start and one result, and each text is delivered once", async () => {
    await fc.assert(
      fc.asyncProperty(scenes, commands, fc.boolean(), async (names, plan, slow) => {
        expect((await played(names, plan, slow)).problems).toEqual([]);
      }),
      { numRuns: LONG ? 10_000 : 200 },
    );
  });
});
