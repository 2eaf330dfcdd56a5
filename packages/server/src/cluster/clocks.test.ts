import type { Event } from "@banyan/core";
import { type NodeEntry, postgresStore } from "@banyan/store/postgres";
import { whyNoPostgres } from "@banyan/store/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isDone, type NodeProcess, type NodeSetting, Nodes, say } from "../testing/nodes.fixture.ts";
import type { TestClient } from "../testing/test-client.fixture.ts";

const HOUR = 3_600_000;
/** Maximum time for a turn on a busy machine with rounded clocks; far less than an hour. */
const MINUTES = 5 * 60_000;
const LONG = Boolean(process.env.BANYAN_LONG) && whyNoPostgres === undefined;

describe.skipIf(!LONG)("three servers, the clock of one an hour ahead and that of another an hour behind", () => {
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await Nodes.onOneDatabase();
  });
  afterAll(() => nodes.remove());

  /** Three new nodes: one ahead, one behind, and one right. */
  async function three(setting: NodeSetting = {}): Promise<[NodeProcess, NodeProcess, NodeProcess]> {
    return [
      await nodes.start({ ...setting, env: wrongBy(HOUR) }),
      await nodes.start({ ...setting, env: wrongBy(-HOUR) }),
      await nodes.start(setting),
    ];
  }

  async function turn(client: TestClient, conversation: string, words = "go"): Promise<void> {
    await client.ask("turn.say", { conversation, parts: say(words) });
    await client.watch(conversation);
    await client.until(() => isDone(client, conversation));
  }

  test("its turns come to their end, its facts have the time that it is, and all list them in the order in which they were said", async () => {
    const clients = await Promise.all((await three()).map((node) => nodes.client(node)));
    const ids = ["said first", "said second", "said third"];
    for (const [index, client] of clients.entries()) {
      const conversation = ids[index] ?? "";
      await client.ask("conversation.create", { conversation });
      await turn(client, conversation);
      expectRightTimes(await nodes.stored(conversation));
    }
    for (const client of clients) expect(await listed(client)).toEqual(ids.toReversed());
    // Each client writes to a conversation of another node.
    await turn(clients[2] as TestClient, "said first", "once more");
    for (const client of clients) expect(await listed(client)).toEqual(["said first", "said third", "said second"]);
  });

  test("no node takes a conversation from a living node", async () => {
    const all = await three({ pace: 400 });
    const clients = await Promise.all(all.map((node) => nodes.client(node)));
    const ids = ["of ahead", "of behind", "of right"];
    for (const [index, client] of clients.entries()) {
      await client.ask("conversation.create", { conversation: ids[index] ?? "" });
      await client.ask("turn.say", { conversation: ids[index] ?? "", parts: say("go") });
    }
    for (const { lease } of await entries(nodes)) {
      expect(lease).toBeGreaterThan(0);
      expect(lease).toBeLessThanOrEqual(15_000);
    }
    // Three answers of 15 words take longer than a lease.
    for (const id of ids) {
      for (const client of clients) await client.watch(id);
      for (const client of clients) await client.until(() => isDone(client, id));
      const stored = await nodes.stored(id);
      expect(new Set(stored.events.map(({ epoch }) => epoch))).toEqual(new Set([1]));
      expectRightTimes(stored);
    }
  });

  test("another node takes a killed node's conversation when the lease ends by the database's clock, not earlier", async () => {
    const all = await three({ pace: 100 });
    for (const [index, owner] of all.entries()) {
      const conversation = `killed ${index}`;
      const client = await nodes.client(owner);
      await client.ask("conversation.create", { conversation });
      await client.ask("turn.say", { conversation, parts: say("go") });
      await client.watch(conversation);
      await client.item("text.delta");
      const had = nodes.acts.length;
      await owner.kill();
      const dead = (await entries(nodes)).find(({ process }) => process === owner.child.pid) as NodeEntry;
      const isOverAt = Date.now() + dead.lease;
      // The other two of these nodes, and then a new one.
      const other = await nodes.client(all[index + 1] ?? (await nodes.start({ env: wrongBy(HOUR) })));
      await other.watch(conversation);
      await other.until(() => isDone(other, conversation));
      await other.ask("conversation.rename", { conversation, title: "Done" });
      const stored = await nodes.stored(conversation);
      expectRightTimes(stored);
      const taken = stored.events.find(({ epoch }) => epoch > 1) as Event;
      expect(taken.at).toBeGreaterThan(isOverAt - 2_000);
      expect(nodes.acts.length).toBeGreaterThanOrEqual(had);
      expect(new Set(nodes.acts).size).toBe(nodes.acts.length);
    }
  });
});

function wrongBy(time: number): NodeJS.ProcessEnv {
  const preload = new URL("../testing/wrong-clock.fixture.ts", import.meta.url).href;
  return { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --import=${preload}`, CLOCK_IS_WRONG_BY: String(time) };
}

/** The log is complete, and its times are those of this machine: none is an hour off, and none decreases. */
function expectRightTimes({ events, wrong }: Awaited<ReturnType<Nodes["stored"]>>): void {
  expect(wrong).toEqual([]);
  const times = events.map(({ at }) => at);
  for (const at of times) expect(Math.abs(Date.now() - at)).toBeLessThan(MINUTES);
  // Clocks count as equal to the second.
  for (const [index, at] of times.entries()) expect(at).toBeGreaterThan((times[index - 1] ?? 0) - 2_000);
}

async function listed(client: TestClient): Promise<string[]> {
  return (await client.ask("conversation.list", {})).conversations.map(({ id }) => id);
}

async function entries(nodes: Nodes): Promise<readonly NodeEntry[]> {
  const store = postgresStore(nodes.url, { connections: 1 });
  try {
    return await store.shared.nodes();
  } finally {
    await store.close();
  }
}
