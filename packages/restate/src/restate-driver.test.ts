import { setTimeout as sleep } from "node:timers/promises";
import { textOf } from "@banyan/core";
import { whyNoPostgres } from "@banyan/store/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Nodes, type Stored, say } from "./testing/nodes.fixture.ts";
import { stopRestate, whyNoRestate } from "./testing/restate-server.fixture.ts";

const LONG = process.env.BANYAN_LONG !== undefined;
const why = whyNoPostgres ?? whyNoRestate();
const skipped = why === undefined ? "" : ` (skipped: ${why})`;

/** Returns true if the last message is a complete response, and no run is live. */
function isDone({ state }: Stored): boolean {
  const last = state.leaf === null ? undefined : state.messages.get(state.leaf);
  return state.runs.size === 0 && last?.role === "assistant" && textOf(last).endsWith("Done.");
}

function expectWhole({ events, wrong }: Stored): void {
  expect(wrong).toEqual([]);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
}

describe.skipIf(why !== undefined)(`turns that Restate drives${skipped}`, () => {
  const nodes = new Nodes();
  beforeAll(() => nodes.begin(1));
  afterAll(() => nodes.end());

  test("a turn goes on when the server that ran it is killed: on another one, at once, and no effect is had twice", async () => {
    const one = await nodes.start({ pace: 20 });
    const two = await nodes.start({ pace: 20 });
    await one.client.ask("conversation.create", { conversation: "garden" });
    await one.client.ask("turn.say", { conversation: "garden", parts: say("go") });
    while (nodes.effects.length === 0) await sleep(10);
    await nodes.kill(one);
    const stored = await nodes.until("garden", isDone);
    await two.client.ask("conversation.rename", { conversation: "garden", title: "Done" });
    expectWhole(await nodes.stored("garden"));
    expect(new Set(nodes.effects).size).toBe(nodes.effects.length);
    // The next node did not wait for the dead node's lease, which would take 15 seconds.
    const dead = stored.events.findLast(({ epoch }) => epoch === 1);
    const next = stored.events.find(({ epoch }) => epoch > 1);
    expect(Number(next?.at) - Number(dead?.at)).toBeLessThan(14_000);
  });

  test("F72: a turn that an answer continues goes on, too, when the server that continued it is killed", async () => {
    const one = await nodes.start({ pace: 20 });
    await one.client.ask("conversation.create", { conversation: "ask later" });
    await one.client.ask("turn.say", { conversation: "ask later", parts: say("go") });
    const asked = await nodes.until("ask later", ({ state }) => state.questions.size > 0);
    const [question = ""] = asked.state.questions.keys();
    for (const node of [...nodes.all]) await nodes.kill(node);
    const two = await nodes.start({ pace: 20 });
    await nodes.start({ pace: 20 });
    // Restate has no work while a user is asked.
    let driving = ["asked for"];
    while (driving.length > 0) driving = await nodes.invocations("BanyanTurn");
    const before = nodes.effects.length;
    const answer = { decision: "allow" } as const;
    await two.client.ask("question.answer", { conversation: "ask later", question, answer });
    while (nodes.effects.length === before) await sleep(5);
    await nodes.kill(two);
    // Without further messages, the turn continues to its next question.
    await nodes.until("ask later", ({ state }) => [...state.questions.keys()].some((id) => id !== question));
    expect(nodes.effects).toHaveLength(before + 1);
  });
});

describe.skipIf(why !== undefined || !LONG).each([1, 3])(
  `turns that a Restate of %i servers drives${LONG ? skipped : " (skipped: long mode)"}`,
  (restates) => {
    const nodes = new Nodes();
    beforeAll(() => nodes.begin(restates));
    afterAll(() => nodes.end());

    const atLeast = async (count: number) => {
      while (nodes.all.length < count) await nodes.start({ pace: 100 });
    };
    /** Begins turns on a server. Resolves when all of them are live. */
    const inFlight = async (prefix: string, count: number) => {
      const [one] = nodes.all;
      const ids = Array.from({ length: count }, (_, index) => `${prefix} ${index}`);
      await Promise.all(ids.map((conversation) => one?.client.ask("conversation.create", { conversation })));
      await Promise.all(ids.map((id) => one?.client.ask("turn.say", { conversation: id, parts: say("go") })));
      const stored = await Promise.all(ids.map((id) => nodes.stored(id)));
      expect(stored.filter(({ state }) => state.runs.size > 0)).toHaveLength(count);
      return ids;
    };
    const expectFinished = async (ids: readonly string[]) => {
      const [other] = nodes.all;
      for (const id of ids) {
        await nodes.until(id, isDone);
        // The next write also records what a dead writer left unfinished.
        await other?.client.ask("conversation.rename", { conversation: id, title: "Done" });
        expectWhole(await nodes.stored(id));
      }
      const keys = nodes.effects.filter((line) => !/^(?:waiting|stopped)$/.test(line));
      expect(new Set(keys).size).toBe(keys.length);
    };

    test("40 turns whose server is killed all end, nothing is lost, no effect is had twice", async () => {
      await atLeast(3);
      const ids = await inFlight("killed", 40);
      const [one] = nodes.all;
      if (one) await nodes.kill(one);
      await expectFinished(ids);
    });

    test("40 turns go on when Restate is killed and started again", async () => {
      await atLeast(2);
      const ids = await inFlight("restarted", 40);
      const [restate] = nodes.restates;
      if (restate) await stopRestate(restate, "SIGKILL");
      // A single Restate server continues its work when it is back; of three, the others take over.
      const back = sleep(3_000).then(() => nodes.startRestate(0));
      const [one] = nodes.all;
      if (one) await nodes.kill(one);
      nodes.restates[0] = await back;
      await expectFinished(ids);
    });

    test("a question of one server is answered on another, and a stop on a third ends the tool within a second", async () => {
      await atLeast(3);
      const [one, two, three] = nodes.all;
      await one?.client.ask("conversation.create", { conversation: "ask me" });
      await one?.client.ask("turn.say", { conversation: "ask me", parts: say("go") });
      for (let count = 0; count < 2; count++) {
        const { state } = await nodes.until("ask me", (stored) => stored.state.questions.size > 0);
        const [question = ""] = state.questions.keys();
        await two?.client.ask("question.answer", { conversation: "ask me", question, answer: { decision: "allow" } });
        await nodes.until("ask me", (stored) => !stored.state.questions.has(question));
      }
      await nodes.until("ask me", isDone);

      await one?.client.ask("conversation.create", { conversation: "slow" });
      await one?.client.ask("turn.say", { conversation: "slow", parts: say("please wait") });
      while (!nodes.effects.includes("waiting")) await sleep(20);
      const before = performance.now();
      expect((await three?.client.ask("run.interrupt", { conversation: "slow" }))?.interrupted).toBe(1);
      while (!nodes.effects.includes("stopped")) await sleep(5);
      expect(performance.now() - before).toBeLessThan(1_000);
    });

    test("a server that sleeps is overtaken; when it wakes, what it had at work is ended, and it writes nothing", async () => {
      await atLeast(2);
      const [, two] = nodes.all;
      await two?.client.ask("conversation.create", { conversation: "sleeper" });
      const begun = nodes.effects.length;
      await two?.client.ask("turn.say", { conversation: "sleeper", parts: say("please wait") });
      while (nodes.effects.length === begun) await sleep(20);
      two?.process.kill("SIGSTOP");
      await nodes.until("sleeper", ({ events }) => events.some(({ epoch }) => epoch > 1));
      const stopped = () => nodes.effects.filter((line) => line === "stopped").length;
      const before = stopped();
      two?.process.kill("SIGCONT");
      while (stopped() === before) await sleep(20);
      const [one] = nodes.all;
      await one?.client.ask("run.interrupt", { conversation: "sleeper" });
      expectWhole(await nodes.until("sleeper", ({ state }) => state.runs.size === 0));
    });

    test("a turn that an operator cancels in Restate is interrupted", async () => {
      await atLeast(1);
      const [one] = nodes.all;
      await one?.client.ask("conversation.create", { conversation: "cancelled" });
      const begun = nodes.effects.length;
      await one?.client.ask("turn.say", { conversation: "cancelled", parts: say("please wait") });
      while (nodes.effects.length === begun) await sleep(20);
      let driving: string[] = [];
      while (driving.length === 0) driving = await nodes.invocations("BanyanTurn");
      expect(driving).toHaveLength(1);
      for (const id of driving) await nodes.cancel(id);
      expectWhole(await nodes.until("cancelled", ({ state }) => state.runs.size === 0));
      expect(nodes.effects.slice(begun)).toEqual(["waiting", "stopped"]);
      while ((await nodes.invocations("BanyanTurn")).length > 0) await sleep(50);
    });
  },
);
