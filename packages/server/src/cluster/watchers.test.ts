import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Mirror } from "@banyan/client";
import { cursorOf, isDelta, isEvent, textOf } from "@banyan/core";
import { PROTOCOL, type ServerFrame } from "@banyan/protocol";
import { whyNoPostgres } from "@banyan/store/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { type NodeProcess, Nodes, say } from "../testing/nodes.fixture.ts";
import { TOKEN } from "../testing/serving.fixture.ts";

const WATCHERS = 1_000;
const LONG = Boolean(process.env.BANYAN_LONG) && whyNoPostgres === undefined;

describe.skipIf(!LONG)("three nodes and many who watch", () => {
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await Nodes.onOneDatabase();
  });
  afterAll(() => nodes.remove());

  test(`${WATCHERS} watchers over three nodes see the same order without a gap, through the death of the owner`, async () => {
    const all = await Promise.all([1, 2, 3].map(() => nodes.start({ pace: 200 })));
    const [owner, second] = all as [NodeProcess, NodeProcess, NodeProcess];
    const client = await nodes.client(second);
    const there = await nodes.client(owner);
    await there.ask("conversation.create", { conversation: "watched" });
    // A watching client keeps the conversation on its node.
    await there.watch("watched");
    const watchers: Watcher[] = [];
    for (let begun = 0; begun < WATCHERS; begun += 50)
      watchers.push(
        ...(await Promise.all(
          Array.from({ length: 50 }, (_, index) => Watcher.at(all[(begun + index) % 3] as NodeProcess, "watched")),
        )),
      );
    await client.ask("turn.say", { conversation: "watched", parts: say("go") });
    await Promise.all(watchers.map((watcher) => watcher.until(() => watcher.told.length > 12)));
    await owner.kill();
    // Every third watcher was on that node.
    const lost = watchers.filter((_, index) => index % 3 === 0);
    await Promise.all(
      lost.map(async (watcher) => {
        await watcher.until(() => watcher.isLost);
        await watcher.comeBack(second);
      }),
    );
    await Promise.all(watchers.map((watcher) => watcher.until(() => watcher.isDone)));
    const { events, wrong } = await nodes.stored("watched");
    expect(wrong).toEqual([]);
    const log = events.map(({ epoch, seq, type }) => `${epoch}.${seq} ${type}`);
    const [first] = watchers;
    for (const watcher of watchers) {
      expect(watcher.wrong).toEqual([]);
      expect(watcher.said).toEqual(first?.said);
      // Its events are in the log, in the same order.
      const places = watcher.told.map((event) => log.indexOf(event));
      expect(places).not.toContain(-1);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    }
  });

  test("an approval that was asked on one node is answered on another, and an interrupt on a third stops the tool within a second", async () => {
    const [one, two, three] = (await Promise.all([1, 2, 3].map(() => nodes.start()))) as [
      NodeProcess,
      NodeProcess,
      NodeProcess,
    ];
    const [a, b, c] = [await nodes.client(one), await nodes.client(two), await nodes.client(three)];
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const conversation = `ask ${round}`;
      await a.ask("conversation.create", { conversation });
      await a.ask("turn.say", { conversation, parts: say("go") });
      await b.watch(conversation);
      const question = await b.until(() => [...(b.mirrors.get(conversation)?.state.questions.keys() ?? [])][0]);
      await b.ask("question.answer", { conversation, question, answer: { decision: "allow" } });
      await a.watch(conversation);
      await a.until(() => !a.mirrors.get(conversation)?.state.questions.has(question));

      const stopped = () => nodes.effects.filter((line) => line === "stopped").length;
      const [waiting, before] = [nodes.effects.filter((line) => line === "waiting").length, stopped()];
      await a.ask("conversation.create", { conversation: `wait ${round}` });
      await a.ask("turn.say", { conversation: `wait ${round}`, parts: say("please wait") });
      while (nodes.effects.filter((line) => line === "waiting").length === waiting) await sleep(10);
      const begun = performance.now();
      const interrupted = c.ask("run.interrupt", { conversation: `wait ${round}` });
      while (stopped() === before) await sleep(5);
      times.push(performance.now() - begun);
      expect((await interrupted).interrupted).toBe(1);
    }
    console.info(`from an interrupt to the end of the tool: ${times.map(Math.round).join(", ")} ms`);
    expect(times.toSorted((one, other) => one - other)[2]).toBeLessThan(1_000);
  });
});

/** A client that keeps only enough of its frames to check their order. */
class Watcher {
  readonly told: string[] = [];
  readonly wrong: string[] = [];
  isLost = false;
  readonly #conversation: string;
  #socket: WebSocket | undefined;
  #mirror: Mirror | undefined;
  readonly #waiting = new Set<() => void>();

  private constructor(conversation: string) {
    this.#conversation = conversation;
    onTestFinished(() => this.#socket?.terminate());
  }

  static async at(node: NodeProcess, conversation: string): Promise<Watcher> {
    const watcher = new Watcher(conversation);
    await watcher.comeBack(node);
    return watcher;
  }

  /** Watches again through another node, from its last position. */
  async comeBack({ address }: NodeProcess): Promise<void> {
    const socket = new WebSocket(`${address.replace("http", "ws")}/api/v1/socket`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    this.#socket = socket;
    this.isLost = false;
    socket.on("message", (data) => this.#take(JSON.parse(String(data))));
    socket.on("close", () => {
      this.isLost = true;
      this.#look();
    });
    socket.on("error", () => {});
    await once(socket, "open");
    socket.send(JSON.stringify({ type: "hello", protocol: PROTOCOL, client: "a watcher" }));
    const at = this.#mirror?.cursor;
    const from = at === undefined ? {} : { from: at };
    socket.send(JSON.stringify({ type: "feed.subscribe", id: "s", conversation: this.#conversation, ...from }));
    await this.until(() => this.#mirror !== undefined);
  }

  async until(find: () => boolean): Promise<void> {
    while (!find()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  get isDone(): boolean {
    return this.said.endsWith("Done.") && this.#mirror?.state.runs.size === 0;
  }

  /** The last message. */
  get said(): string {
    const { state } = this.#mirror ?? {};
    const last = state?.leaf ? state.messages.get(state.leaf) : undefined;
    return last ? textOf(last) : "";
  }

  #take(frame: ServerFrame): void {
    if (frame.type === "failed") this.wrong.push(frame.error.message);
    if (frame.type === "snapshot") this.#mirror = new Mirror(frame);
    if (frame.type === "feed" && this.#mirror) {
      for (const item of frame.items) {
        const [at, place] = [this.#mirror.cursor, cursorOf(item)];
        const isNext = place && (isDelta(item) ? place.seq >= at.seq : place.seq === at.seq + 1);
        if (place && !isNext) this.wrong.push(`${item.type} ${JSON.stringify(place)} behind ${JSON.stringify(at)}`);
        if (isEvent(item)) this.told.push(`${item.epoch}.${item.seq} ${item.type}`);
        this.#mirror.take([item]);
      }
    }
    this.#look();
  }

  #look(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
