import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type WatchedConversation } from "@banyan/client";
import { nodeLink } from "@banyan/client/node";
import { type Message, textOf } from "@banyan/core";
import { whyNoPostgres } from "@banyan/store/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type NodeProcess, Nodes, say } from "../testing/nodes.fixture.ts";
import { TOKEN } from "../testing/serving.fixture.ts";

const LONG = Boolean(process.env.BANYAN_LONG) && whyNoPostgres === undefined;
const TALKING = 8;
/** Milliseconds between two checks of the load balancer, as in `deploy/haproxy.cfg`. */
const LOOK = 1_000;
/** Milliseconds that a server gives its runs; a turn takes about as long. */
const DRAIN = 5_000;

describe.skipIf(!LONG)("three servers that are replaced, one after the other, while clients work", () => {
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await Nodes.onOneDatabase();
  });
  afterAll(() => nodes.remove());

  test("no client sees an error, no run is lost, and no effect is had twice", async () => {
    const living: NodeProcess[] = [];
    const balancer = await Balancer.before(living);
    const start = async () => {
      const node = await nodes.start({ pace: 25, drain: DRAIN, allowHost: new URL(balancer.address).host });
      living.push(node);
      await balancer.has(node);
      return node;
    };
    await Promise.all([start(), start(), start()]);
    const wrong: unknown[] = [];
    const said = new Map<string, string | undefined>();
    let isOver = false;

    /** A user at a page: one conversation after another, each with a second message. */
    const talk = async (name: string) => {
      const client = new Client(nodeLink({ address: balancer.address, token: TOKEN, client: "a test" }));
      onTestFinished(() => client.close());
      for (let count = 0; !isOver; count++) {
        const conversation = `${name} ${count}`;
        await client.ask("conversation.create", { conversation });
        const watched = client.watch(conversation);
        for (const words of ["go", "go on"]) {
          const { message } = await client.ask("turn.say", { conversation, parts: say(words) });
          said.set(`${conversation}: ${words}`, message);
          await until(watched, message ?? "");
        }
        await client.leave(watched);
      }
    };
    /** A program with single requests. */
    const request = async () => {
      while (!isOver) {
        const command = { type: "conversation.list", id: crypto.randomUUID() };
        const headers = { authorization: `Bearer ${TOKEN}` };
        const answer = await fetch(`${balancer.address}/api/v1/commands`, {
          method: "POST",
          headers,
          body: JSON.stringify(command),
        });
        if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
        await answer.body?.cancel();
        await sleep(50);
      }
    };
    const working = [...Array.from({ length: TALKING }, (_, index) => talk(`person ${index}`)), request()].map((work) =>
      work.catch((error: unknown) => wrong.push(error)),
    );
    for (const old of [...living]) {
      await start();
      await sleep(1_000);
      const exit = once(old.child, "exit");
      old.child.kill("SIGTERM");
      expect(await exit).toEqual([0, null]);
    }
    await sleep(1_000);
    isOver = true;
    await Promise.all(working);
    expect(wrong).toEqual([]);
    expect(said.size).toBeGreaterThan(2 * TALKING);
    const conversations = new Set([...said.keys()].map((key) => key.split(":")[0] ?? ""));
    for (const conversation of conversations) {
      const { events, wrong: broken } = await nodes.stored(conversation);
      expect(broken, conversation).toEqual([]);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      for (const words of ["go", "go on"]) {
        const message = said.get(`${conversation}: ${words}`);
        expect(events.filter((event) => event.type === "message.added" && event.message === message)).toHaveLength(1);
      }
    }
    expect(new Set(nodes.acts).size).toBe(nodes.acts.length);
    console.info(`${conversations.size} conversations, ${said.size} turns, ${nodes.acts.length} effects`);
  });
});

/** Resolves when a message has a whole answer. */
async function until(watched: WatchedConversation, message: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => {
    if (watched.standing !== "live") return;
    const { state } = watched;
    const last = state.messages.get(state.leaf ?? "");
    if (state.messages.has(message) && state.runs.size === 0 && isWhole(last)) resolve();
  };
  const stop = watched.follow({ item: look, renewed: look, stands: look });
  look();
  return promise.finally(stop);
}

function isWhole(message: Message | undefined): boolean {
  return message?.role === "assistant" && textOf(message).endsWith("Done.");
}

/** A load balancer: a connection goes to a server that was ready at the last check, or to another one if that fails. */
class Balancer {
  readonly address: string;
  readonly #nodes: NodeProcess[];
  readonly #ready = new Set<NodeProcess>();
  #turn = 0;

  private constructor(port: number, nodes: NodeProcess[]) {
    this.address = `http://127.0.0.1:${port}`;
    this.#nodes = nodes;
  }

  static async before(nodes: NodeProcess[]): Promise<Balancer> {
    let balancer: Balancer | undefined;
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      sockets.add(client.on("error", () => {}));
      balancer?.lead(client).catch(() => client.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    balancer = new Balancer((server.address() as AddressInfo).port, nodes);
    const looking = setInterval(() => balancer?.look(), LOOK);
    onTestFinished(() => {
      clearInterval(looking);
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    return balancer;
  }

  /** Resolves when a server gets clients. */
  async has(node: NodeProcess): Promise<void> {
    while (!this.#ready.has(node)) await sleep(50);
  }

  private look(): void {
    for (const node of this.#nodes)
      fetch(`${node.address}/readyz`).then(
        ({ ok }) => (ok ? this.#ready.add(node) : this.#ready.delete(node)),
        () => this.#ready.delete(node),
      );
  }

  private async lead(client: Socket): Promise<void> {
    const nodes = [...this.#ready];
    this.#turn++;
    for (let index = 0; index < nodes.length; index++) {
      const node = nodes[(this.#turn + index) % nodes.length];
      const server = connect(Number(new URL(node?.address ?? "").port), "127.0.0.1");
      const isUp = await new Promise<boolean>((resolve) => {
        server.once("connect", () => resolve(true)).once("error", () => resolve(false));
      });
      if (!isUp) continue;
      server.on("error", () => client.destroy()).on("close", () => client.destroy());
      client.on("close", () => server.destroy());
      client.pipe(server).pipe(client);
      return;
    }
    client.destroy();
  }
}
