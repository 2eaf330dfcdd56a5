import { setTimeout as sleep } from "node:timers/promises";
import { type Event, isEvent } from "@banyan/core";
import { whyNoPostgres } from "@banyan/store/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { isDone, type NodeProcess, Nodes, say } from "../testing/nodes.fixture.ts";
import type { TestClient } from "../testing/test-client.fixture.ts";

const TURNS = 40;
/** The number of rounds. In the first, the lease expires by itself; later, the test moves the database's time. */
const ROUNDS = Number(process.env.BANYAN_ROUNDS ?? 3);
const LONG = Boolean(process.env.BANYAN_LONG) && whyNoPostgres === undefined;

describe.skipIf(!LONG)(`three nodes, ${TURNS} turns in flight, and the node that has them is gone`, () => {
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await Nodes.onOneDatabase();
  });
  afterAll(() => nodes.remove());

  /** The three live nodes, with new ones for dead ones. */
  const living = async () => {
    const all = nodes.all.filter(({ child }) => child.exitCode === null && child.signalCode === null);
    while (all.length < 3) all.push(await nodes.start());
    return all as [NodeProcess, NodeProcess, NodeProcess];
  };

  for (const signal of ["SIGKILL", "SIGSTOP"] as const)
    for (let round = 1; round <= ROUNDS; round++)
      test(`${signal}, time ${round}: all end, no event is lost, none has two writers, no effect is had twice`, {
        timeout: 180_000,
      }, async () => {
        const [owner, second, third] = await living();
        const ids = Array.from({ length: TURNS }, (_, index) => `${signal} ${round} turn ${index}`);
        const had = nodes.acts.length;
        // No turn has had more than its first effect, however busy the machine is: all are in flight.
        const letGo = nodes.holdActs();
        onTestFinished(() => {
          letGo();
          owner.child.kill("SIGCONT");
        });
        const client = await nodes.client(owner);
        const [before, after] = [await nodes.client(second), await nodes.client(third)];
        const said = new Map<string, string | undefined>();
        await Promise.all(
          ids.map(async (conversation) => {
            await client.ask("conversation.create", { conversation });
            said.set(conversation, (await client.ask("turn.say", { conversation, parts: say("go") })).message);
          }),
        );
        // Watches through another node, which gets events from the owner: everything seen here has happened.
        await Promise.all(ids.map((id) => before.watch(id)));
        const moment = had + Math.random() * TURNS;
        while (nodes.acts.length < moment) await sleep(5);
        if (signal === "SIGKILL") await owner.kill();
        else owner.child.kill(signal);
        letGo();
        const seen = new Map(ids.map((id) => [id, eventsOf(before, id)]));
        if (round > 1) await nodes.leaseIsOver(owner);
        if (signal === "SIGSTOP") {
          // Other nodes have all its conversations before it wakes.
          for (const id of ids) while (!(await epochsOf(nodes, id)).some((epoch) => epoch > 1)) await sleep(100);
          owner.child.kill("SIGCONT");
        }
        for (const id of ids) {
          await after.watch(id);
          await after.until(() => isDone(after, id));
          // The next write also stores what the dead writer had not stored.
          await after.ask("conversation.rename", { conversation: id, title: "Done" });
          const { events, wrong } = await nodes.stored(id);
          expect(wrong, id).toEqual([]);
          expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
          // Writers follow one another: an overtaken writer wrote nothing after its successor.
          const epochs = events.map(({ epoch }) => epoch);
          expect(epochs, id).toEqual(epochs.toSorted((a, b) => a - b));
          expect(events.some((event) => event.type === "message.added" && event.message === said.get(id))).toBe(true);
          const stored = new Set(events.map(nameOf));
          for (const event of seen.get(id) ?? []) expect(stored).toContain(nameOf(event));
        }
        expect(new Set(nodes.acts).size).toBe(nodes.acts.length);
        for (const { socket } of [client, before, after]) socket.terminate();
        if (signal === "SIGSTOP")
          await expect.poll(() => owner.log.some((line) => line.includes("was opened by"))).toBe(true);
      });
});

/** The name of an event, the same in every source. */
function nameOf({ epoch, seq, type }: Event): string {
  return `${epoch}.${seq} ${type}`;
}

/** The events of a conversation that a client received. */
function eventsOf({ frames }: TestClient, conversation: string): Event[] {
  return frames.flatMap((frame) =>
    frame.type === "feed" && frame.conversation === conversation ? frame.items.filter(isEvent) : [],
  );
}

async function epochsOf(nodes: Nodes, conversation: string): Promise<number[]> {
  return (await nodes.stored(conversation)).events.map(({ epoch }) => epoch);
}
