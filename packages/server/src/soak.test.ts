import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Client, Mirror } from "@banyan/client";
import { connect } from "@banyan/client/node";
import { createId } from "@banyan/core";
import { Moments } from "@banyan/core/testing/moments";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { type Link, soundLink } from "./testing/bad-link.fixture.ts";
import { clientOf } from "./testing/moments-client.fixture.ts";
import { plays, problemsOf } from "./testing/played.fixture.ts";
import { readAll } from "./testing/seen.fixture.ts";
import { TOKEN, temporaryDirectory } from "./testing/serving.fixture.ts";
import type { Figures } from "./testing/soak-program.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const PROGRAM = fileURLToPath(new URL("./testing/soak-program.fixture.ts", import.meta.url));
const SECONDS = Number(process.env.BANYAN_SOAK_SECONDS ?? (process.env.BANYAN_LONG === "1" ? 600 : 0));

/** The number of conversations at the same time. */
const STAGES = 6;
/** The number of parts. After each, all clients leave and the server is measured. */
const PARTS = 6;

/** A conversation of the soak test, with clients that connect and disconnect, each after at most `at` feed items. */
const soakPlays = fc.record({
  play: plays(150),
  moves: fc.array(fc.record({ at: fc.nat(150), move: fc.constantFrom("come or go", "break the cable") }), {
    maxLength: 6,
    size: "max",
  }),
});

type SoakPlay = typeof soakPlays extends fc.Arbitrary<infer Play> ? Play : never;

test.runIf(SECONDS > 0)(
  "F25, F19: a server on which clients come, go and do things at any moment stays right, and does not grow",
  {
    timeout: (SECONDS + 600) * 1_000,
  },
  async () => {
    const server = new ServerProcess();
    await server.start();
    const seed = Number(process.env.BANYAN_SEED ?? Date.now() % 2 ** 31);
    const count = { plays: 0, items: 0, moves: 0 };
    const problems: string[] = [];
    const rests: Rest[] = [await server.rest()];
    const { sockets } = rests[0] as Rest;
    for (let part = 0; part < PARTS; part++) {
      const end = Date.now() + (SECONDS * 1_000) / PARTS;
      const play = async () => {
        await using stage = await Stage.open(server);
        while (Date.now() < end && problems.length === 0) {
          const one = { seed: seed + count.plays++, numRuns: 1 };
          const [next] = fc.sample(soakPlays, one);
          if (!next) continue;
          const came = await stage.play(one.seed, next);
          count.items += came.items;
          count.moves += next.moves.length;
          if (came.problems.length > 0) problems.push(...came.problems, `seed ${one.seed}: ${JSON.stringify(next)}`);
        }
      };
      await Promise.all(Array.from({ length: STAGES }, play));
      // Idle conversations are closed.
      let rest = await server.rest();
      for (let look = 0; look < 100 && rest.sockets > sockets; look++) {
        await sleep(100);
        rest = await server.rest();
      }
      await sleep(1_000);
      rests.push(await server.rest());
    }
    const table = rests.map(({ heap, descriptors, sockets }) => ({ heapMB: heap / 2 ** 20, descriptors, sockets }));
    console.log(`The soak of ${SECONDS} s, seed ${seed}: ${JSON.stringify(count)}, at rest ${JSON.stringify(table)}`);
    const { problems: twice, log } = await server.figures();
    expect([...problems, ...twice, ...log], `seed ${seed}`).toEqual([]);
    const [third, last] = [rests[PARTS / 3], rests[PARTS]] as [Rest, Rest];
    expect(last.sockets).toBe(sockets);
    expect(last.descriptors).toBe(third.descriptors);
    expect(last.heap).toBeLessThan(1.1 * third.heap);
  },
);

/** The state of a server without clients. */
interface Rest {
  readonly heap: number;
  readonly descriptors: number;
  readonly sockets: number;
}

class ServerProcess {
  readonly token = TOKEN;
  /** Links to the server under host names that it accepts. */
  readonly links: Link[] = [];
  address = "";
  #process: ChildProcess | undefined;

  async start(): Promise<void> {
    for (let link = 0; link < STAGES; link++) this.links.push(await soundLink());
    const hosts = this.links.map(({ address }) => new URL(address).host);
    const started = fork(PROGRAM, [temporaryDirectory(), TOKEN, ...hosts], { execArgv: ["--expose-gc"] });
    onTestFinished(() => void started.kill("SIGKILL"));
    this.#process = started;
    [this.address] = (await once(started, "message")) as [string];
    for (const link of this.links) link.to(this.address);
  }

  async figures(): Promise<Figures> {
    const asked = this.#process as ChildProcess;
    const answered = once(asked, "message");
    asked.send("figures");
    return (await answered)[0] as Figures;
  }

  async rest(): Promise<Rest> {
    const { heap } = await this.figures();
    const folder = `/proc/${this.#process?.pid}/fd`;
    const open = readdirSync(folder).map((name) => {
      try {
        return readlinkSync(`${folder}/${name}`);
      } catch {
        // The descriptor was closed just now.
        return "";
      }
    });
    return { heap, descriptors: open.length, sockets: open.filter((to) => to.startsWith("socket:")).length };
  }
}

/** Adapts a product client, which takes the command's id as a separate argument. */
function withOwnIds(client: Client): Parameters<typeof clientOf>[0] {
  return { ask: (type, input) => client.ask(type, input, "id" in input ? String(input.id) : undefined) };
}

/** A stage for one conversation after another: one client stays, one has a bad cable, and one comes and goes. */
class Stage implements AsyncDisposable {
  readonly #server: ServerProcess;
  readonly #stays: TestClient;
  readonly #reader: TestClient;
  readonly #remote: Client;
  readonly #link: Link;

  private constructor(server: ServerProcess, link: Link, clients: readonly [TestClient, TestClient, Client]) {
    this.#server = server;
    this.#link = link;
    [this.#stays, this.#reader, this.#remote] = clients;
  }

  static async open(server: ServerProcess): Promise<Stage> {
    const link = server.links.shift() as Link;
    server.links.push(link);
    const options = { address: link.address, token: server.token, client: "a test" };
    return new Stage(server, link, [
      await TestClient.connect(server),
      await TestClient.connect(server),
      await connect(options),
    ]);
  }

  async play(seed: number, { play, moves }: SoakPlay): Promise<{ problems: string[]; items: number }> {
    const [stays, remote] = [this.#stays, this.#remote];
    const { conversation } = await stays.ask("conversation.create", {});
    await stays.ask("model.use", { conversation, model: `play/${seed}:${play.names}` });
    await stays.watch(conversation);
    const watched = await remote.watch(conversation).loaded;
    const here = mirrorOf(stays, conversation);
    const visitor = new Visitor(this.#server, stays, conversation);
    const players = [
      clientOf(stays, conversation, here),
      clientOf(withOwnIds(remote), conversation, watched),
      clientOf(visitor, conversation, visitor),
    ];
    const moments = new Moments(players, play.plan);
    const open = [...moves];
    await moments.play(async () => {
      moments.heard(stays.items.length - moments.seen);
      for (const move of open.filter(({ at }) => at <= moments.seen)) {
        open.splice(open.indexOf(move), 1);
        if (move.move === "break the cable") this.#link.cut();
        else visitor.move();
      }
      await sleep(10);
    }, 6_000);

    const { seq } = here.mirror.cursor;
    while ((watched.tree?.cursor?.seq ?? 0) < seq) await sleep(5);
    await watched.read();
    const held = [here, { mirror: watched.tree as Mirror }, ...(await visitor.held())];
    const problems = await problemsOf(moments, conversation, this.#reader, held);
    await remote.leave(watched);
    visitor.leave();
    if (seed % 4 === 0) {
      // The server has closed or will close the conversation; it opens again unchanged.
      await stays.forget(conversation);
      await sleep(600);
      await stays.watch(conversation);
      await readAll(stays, conversation);
      problems.push(...(await problemsOf(moments, conversation, this.#reader, [here])));
    }
    await stays.forget(conversation);
    await stays.ask("conversation.remove", { conversation });
    return { problems, items: moments.seen };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#remote.close();
    for (const client of [this.#stays, this.#reader]) {
      client.socket.close();
      await client.end();
    }
  }
}

/** A client's current mirror of a conversation: a snapshot may replace it. */
function mirrorOf(client: TestClient, conversation: string) {
  return {
    get mirror(): Mirror {
      return client.mirrors.get(conversation) as Mirror;
    },
    get state() {
      return this.mirror.state;
    },
  };
}

/** Connects, and disconnects without notice. Another client repeats its commands with the same ids: each acts once. */
class Visitor {
  readonly #server: ServerProcess;
  readonly #stays: TestClient;
  readonly #conversation: string;
  #there: TestClient | undefined;
  #moving: Promise<void> = Promise.resolve();

  constructor(server: ServerProcess, stays: TestClient, conversation: string) {
    this.#server = server;
    this.#stays = stays;
    this.#conversation = conversation;
  }

  get state() {
    return mirrorOf(this.#there ?? this.#stays, this.#conversation).state;
  }

  ask: TestClient["ask"] = async (type, { id = createId(), ...input }) => {
    const command = { id, ...input } as unknown as Parameters<typeof this.ask<typeof type>>[1];
    const there = this.#there ?? this.#stays;
    return there.ask(type, command).catch((error: unknown) => {
      if (!there.closed) throw error;
      return this.#stays.ask(type, command);
    });
  };

  /** Connects, or disconnects. */
  move(): void {
    this.#moving = this.#moving.then(async () => {
      if (this.#there) return this.leave();
      const there = await TestClient.connect(this.#server);
      await there.watch(this.#conversation);
      this.#there = there;
    });
  }

  leave(): void {
    this.#there?.socket.terminate();
    this.#there = undefined;
  }

  /** The mirror, with all messages read, while connected. */
  async held(): Promise<readonly { readonly mirror: Mirror }[]> {
    await this.#moving;
    if (!this.#there) return [];
    await readAll(this.#there, this.#conversation);
    const { mirror } = mirrorOf(this.#there, this.#conversation);
    const { seq } = mirrorOf(this.#stays, this.#conversation).mirror.cursor;
    await this.#there.until(() => mirror.cursor.seq >= seq);
    return [{ mirror }];
  }
}
