import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createId, type ModelDriver } from "@banyan/core";
import { PROTOCOL } from "@banyan/protocol";
import { serve } from "@banyan/server";
import { hostOf } from "@banyan/server/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { WebSocketServer } from "ws";
import { cpuTime, type Measure } from "../measure.ts";
import { temporaryDirectory } from "../stores/temporary.ts";
import { Watchers } from "../watchers/watchers.ts";

const CLIENTS = 1_000;
/** The number of deltas of 50 bytes, and deltas per second. */
const DELTAS = 4_000;
const A_SECOND = 1_000;
const PIECE = "fifty bytes of an answer that goes on and on. . . ";
/** Milliseconds between two frames that collect deltas. */
const FRAME = 16;
/** The number of clients that read nothing, and the bytes they do not read. */
const PAUSED = 20;
const UNREAD = 64 * 1024 * 1024;

/** Sends to all clients. */
interface Broadcaster extends AsyncDisposable {
  readonly address: string;
  readonly token: string;
  readonly frames: readonly object[];
  /** Sends the pieces at a rate per second, and finally the text run.ended. */
  say(pieces: number, piece: string, aSecond: number): void;
}

const subjects: Readonly<Record<string, () => Promise<Broadcaster>>> = {
  "frame for each delta": () => plain((clients, text) => clients.forEach((client) => void client.write(framed(text)))),
  "frame every 16 ms": () => {
    let pending = "";
    return plain((clients, text) => {
      if (pending === "")
        setTimeout(() => {
          const frame = framed(pending);
          pending = "";
          for (const client of clients) client.write(frame);
        }, FRAME);
      pending += text;
    });
  },
  server,
};

export const fanOut: Measure = {
  name: "fan-out",
  what: "the CPU for a delta to each of 1,000 clients on one stream of 1,000 deltas a second, and what a client costs that does not read",
  subjects: Object.keys(subjects),
  bounds: ["frame every 16 ms"],
  figures: [
    { name: "delivery", unit: "µs" },
    { name: "a client that reads nothing of 64 MiB", unit: "MB" },
  ],
  targets: [{ figure: "delivery", subject: "server", most: 1.5 }],
  rounds: 3,
  async run(subject) {
    const start = subjects[subject];
    if (!start) throw new Error(`There is no subject "${subject}".`);
    return { delivery: await delivery(start), "a client that reads nothing of 64 MiB": await paused(start) };
  },
};

async function delivery(start: () => Promise<Broadcaster>): Promise<number> {
  await using broadcaster = await start();
  using watchers = new Watchers(broadcaster.address, CLIENTS, broadcaster.token, broadcaster.frames);
  await watchers.ready();
  const before = cpuTime();
  broadcaster.say(DELTAS, PIECE, A_SECOND);
  await watchers.ended();
  return ((cpuTime() - before) / (DELTAS * CLIENTS)) * 1_000;
}

/** Returns the memory that each client adds if it reads nothing. */
async function paused(start: () => Promise<Broadcaster>): Promise<number> {
  return ((await held(start, PAUSED)) - (await held(start, 0))) / PAUSED;
}

async function held(start: () => Promise<Broadcaster>, sleepers: number): Promise<number> {
  await using broadcaster = await start();
  using awake = new Watchers(broadcaster.address, 1, broadcaster.token, broadcaster.frames);
  using sleeping = new Watchers(broadcaster.address, sleepers, broadcaster.token, broadcaster.frames);
  await awake.ready();
  if (sleepers > 0) await sleeping.ready();
  await sleeping.pause();
  const before = heldMemory();
  const piece = PIECE.repeat(300);
  broadcaster.say(Math.ceil(UNREAD / piece.length), piece, 4 * A_SECOND);
  await awake.ended();
  return (heldMemory() - before) / 1e6;
}

function heldMemory(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The cheapest way to send: bare sockets after a WebSocket handshake, with each frame built once. */
async function plain(send: (clients: ReadonlySet<Socket>, text: string) => void): Promise<Broadcaster> {
  const clients = new Set<Socket>();
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (_socket, request) => {
    clients.add(request.socket);
    request.socket.on("error", () => clients.delete(request.socket));
    request.socket.write(framed("snapshot"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: "",
    frames: [],
    say(pieces, piece, aSecond) {
      void paced(pieces, aSecond, (index) => send(clients, index === pieces - 1 ? `${piece} run.ended` : piece));
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns a text frame of a server (RFC 6455, section 5.2). */
function framed(text: string): Buffer {
  const payload = Buffer.from(text);
  const { length } = payload;
  const head =
    length < 126
      ? Buffer.from([0x81, length])
      : length < 65_536
        ? Buffer.from([0x81, 126, length >> 8, length & 255])
        : Buffer.from([0x81, 127, 0, 0, 0, 0, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255]);
  return Buffer.concat([head, payload]);
}

/** Our server with its log and agent; the stream is a model's answer. */
async function server(): Promise<Broadcaster> {
  const told = Promise.withResolvers<{ pieces: number; piece: string; aSecond: number }>();
  const model: ModelDriver = {
    id: "bench/model",
    family: "bench",
    async stream(_request, sink) {
      const { pieces, piece, aSecond } = await told.promise;
      await paced(pieces, aSecond, () => sink.push([{ type: "text", text: piece }]));
      const usage = { input: 1, cached: 0, cacheWrite: 0, output: 1, reasoning: 0 };
      sink.push([{ type: "finish", reason: "stop", usage }]);
    },
  };
  const store = sqliteStore({ directory: temporaryDirectory() });
  const { host } = hostOf(store, { model });
  const running = await serve({ host });
  const ask = async (command: object) => {
    const response = await fetch(`${running.address}/api/v1/commands`, {
      method: "POST",
      headers: { authorization: `Bearer ${running.token}` },
      body: JSON.stringify({ id: createId(), ...command }),
    });
    return (await response.json()) as { conversation: string };
  };
  const { conversation } = await ask({ type: "conversation.create" });
  await ask({ type: "turn.say", conversation, parts: [{ type: "text", text: "go on" }] });
  return {
    address: `${running.address.replace("http", "ws")}/api/v1/socket`,
    token: running.token,
    frames: [
      { type: "hello", protocol: PROTOCOL, client: "bench" },
      { type: "feed.subscribe", id: createId(), conversation },
    ],
    say: (pieces, piece, aSecond) => told.resolve({ pieces, piece, aSecond }),
    async [Symbol.asyncDispose]() {
      await running.stop();
      await store.close();
    },
  };
}

/** Runs an action a number of times at an average rate: a timer cannot keep the rate for each action. */
async function paced(times: number, aSecond: number, action: (index: number) => void): Promise<void> {
  const began = performance.now();
  for (let index = 0; index < times; ) {
    const due = Math.min(times, ((performance.now() - began) / 1_000) * aSecond);
    while (index < due) action(index++);
    await sleep(1);
  }
}
