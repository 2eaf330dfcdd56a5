import { setTimeout as sleep } from "node:timers/promises";
import { Session } from "@banyan/core";
import { postgresStore } from "@banyan/store/postgres";
import { type Wire, whyNoPostgres, wireTo } from "@banyan/store/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { isDone, type NodeProcess, Nodes, say } from "../testing/nodes.fixture.ts";

const LONG = Boolean(process.env.BANYAN_LONG);
const title = whyNoPostgres === undefined ? "" : ` (skipped: ${whyNoPostgres})`;

describe.skipIf(whyNoPostgres !== undefined)(`servers that do not reach each other, or their database${title}`, () => {
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await Nodes.onOneDatabase();
  });
  afterAll(() => nodes.remove());

  /** A node that the others reach through a wire. */
  async function behindWire(setting: Parameters<Nodes["start"]>[0] = {}): Promise<{ node: NodeProcess; wire: Wire }> {
    let node: NodeProcess | undefined;
    const wire = await wireTo(() => Number(new URL(node?.address ?? "").port));
    onTestFinished(() => wire[Symbol.dispose]());
    node = await nodes.start({ ...setting, address: `http://127.0.0.1:${wire.port}` });
    return { node, wire };
  }

  test.skipIf(!LONG).each(["both", "to", "from"] as const)(
    "a client of a node that cannot reach the owner (%s) reads checkpoints, and the live stream after the repair",
    async (what) => {
      const { node: owner, wire } = await behindWire({ pace: 150 });
      const other = await nodes.start();
      const [a, b] = [await nodes.client(owner), await nodes.client(other)];
      const id = `parted ${what}`;
      await a.ask("conversation.create", { conversation: id });
      await a.ask("turn.say", { conversation: id, parts: say("go") });
      await b.watch(id);
      await b.item("text.delta");
      const heal = wire.part(what);
      // Checkpoints come only from the database.
      const from = b.items.length;
      await b.until(() => b.items.slice(from).some(({ type }) => type === "message.checkpoint"));
      await b.until(() => isDone(b, id));
      // The owner's data arrives if only the other direction is cut.
      if (what !== "to") expect(other.log.some((line) => line.includes("cannot be reached from here"))).toBe(true);
      // Commands to the owner go through the database.
      await b.ask("conversation.rename", { conversation: id, title: "Parted" });
      heal();
      wire.cut();
      await a.ask("turn.say", { conversation: id, parts: say("go on") });
      const again = b.items.length;
      await b.until(() => b.items.slice(again).some(({ type }) => type === "text.delta"));
      await a.watch(id);
      await Promise.all([a, b].map((client) => client.until(() => isDone(client, id))));
      expect([...(b.mirrors.get(id)?.state.messages.keys() ?? [])]).toEqual([
        ...(a.mirrors.get(id)?.state.messages.keys() ?? []),
      ]);
      expect((await nodes.stored(id)).wrong).toEqual([]);
    },
  );

  test("a conversation open in a program without a server can be read live, and commands are refused with the program's name", async () => {
    const store = postgresStore(nodes.url, { program: "my-program" });
    onTestFinished(() => store.close());
    const session = await Session.open(store, "of a program", { create: true });
    await session.add(say("Hello"), {});
    const client = await nodes.client(await nodes.start());
    const mirror = await client.watch("of a program");
    expect(mirror.state.messages.size).toBe(1);
    await session.add(say("Again"), {});
    await client.until(() => client.mirrors.get("of a program")?.state.messages.size === 2);
    await expect(client.ask("turn.say", { conversation: "of a program", parts: say("go") })).rejects.toMatchObject({
      code: "locked",
      message: expect.stringContaining("is open in my-program"),
    });
    await session.close();
    // The conversation has no owner, and opens here.
    await client.ask("turn.say", { conversation: "of a program", parts: say("go") });
    await client.until(() => isDone(client, "of a program"));
  });

  test.skipIf(!LONG).each(["both", "to", "from"] as const)(
    "a node whose way to the database is parted (%s) loses what it has, and writes nothing when it is back",
    async (what) => {
      const wire = await wireTo(() => Number(new URL(nodes.url).port));
      onTestFinished(() => wire[Symbol.dispose]());
      const owner = await nodes.start({ url: wire.via(nodes.url), pace: 100 });
      const other = await nodes.start();
      const [a, b] = [await nodes.client(owner), await nodes.client(other)];
      const id = `no database ${what}`;
      await a.ask("conversation.create", { conversation: id });
      await a.ask("turn.say", { conversation: id, parts: say("go") });
      await a.watch(id);
      await a.item("text.delta");
      const heal = wire.part(what);
      // The lease expires by the database's clock.
      while (!(await nodes.stored(id)).events.some(({ epoch }) => epoch > 1)) await sleep(100);
      heal();
      wire.cut();
      await b.watch(id);
      await b.until(() => isDone(b, id));
      const { events, wrong } = await nodes.stored(id);
      expect(wrong).toEqual([]);
      const epochs = events.map(({ epoch }) => epoch);
      expect(epochs).toEqual(epochs.toSorted((one, two) => one - two));
      expect(new Set(nodes.acts).size).toBe(nodes.acts.length);
      // A client that watched on the old owner continues.
      await a.until(() => isDone(a, id));
      await a.ask("turn.say", { conversation: id, parts: say("once more") });
      await a.until(() => (a.mirrors.get(id)?.state.messages.size ?? 0) > 5 && isDone(a, id));
    },
  );
});
