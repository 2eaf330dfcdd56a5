import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createId, emptyConversation, type FeedItem, reduce } from "@banyan/core";
import { call, DeltaReader, reasoning, scriptedModel, text } from "@banyan/core/testing";
import { PROTOCOL, type ServerFrame } from "@banyan/protocol";
import { sqliteStore } from "@banyan/store/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { ask } from "./testing/request.fixture.ts";
import { stored } from "./testing/seen.fixture.ts";
import { serving, TOKEN, temporaryDirectory } from "./testing/serving.fixture.ts";

const LONG = process.env.BANYAN_LONG === "1";
const headers = { authorization: `Bearer ${TOKEN}` };
const say = (words: string) => [{ type: "text", text: words }];
const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index} `);

/** The server's address, and the watched conversation. */
interface Watched {
  readonly address: string;
  readonly conversation: string;
}

/** Reads frames behind a reader's cursor until `take` returns "stop", then disconnects without notice. */
type Door = (watched: Watched, reader: DeltaReader, take: (frame: ServerFrame) => "more" | "stop") => Promise<void>;

const overEventStream: Door = async ({ address, conversation }, { cursor }, take) => {
  const stop = new AbortController();
  const from = cursor ? `?from=${cursor.epoch}.${cursor.seq}.${cursor.offset}` : "";
  const path = `${address}/api/v1/conversations/${conversation}/feed${from}`;
  const { body, status } = await fetch(path, { headers, signal: stop.signal });
  if (status !== 200) throw new Error(`The stream was answered with ${status}.`);
  let rest = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data && take(JSON.parse(data)) === "stop") return stop.abort();
    }
  }
};

const overSocket: Door = ({ address, conversation }, { cursor }, take) => {
  const socket = new WebSocket(`${address.replace("http", "ws")}/api/v1/socket`, { headers });
  return new Promise((resolve) => {
    socket.on("open", () => {
      const subscribe = { type: "feed.subscribe", id: createId(), conversation, from: cursor };
      for (const frame of [{ type: "hello", protocol: PROTOCOL, client: "a test" }, subscribe])
        socket.send(JSON.stringify(frame));
    });
    socket.on("message", (data) => {
      if (take(JSON.parse(String(data))) === "stop") socket.terminate();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve());
  });
};

const DOORS = { "an event stream": overEventStream, "a socket": overSocket };

/** Reads only deltas, a few items at a time, until the turn ends. */
async function readInPieces(door: Door, watched: Watched, reader: DeltaReader, pieces: readonly number[]) {
  let isOver = false;
  for (let round = 0; !isOver; round++) {
    let left = pieces[round % pieces.length] ?? 1;
    await door(watched, reader, (frame) => {
      if (frame.type !== "feed") return "more";
      for (const item of frame.items) {
        reader.take(item);
        if (isLast(item)) isOver = true;
        if (--left === 0) return "stop";
      }
      return isOver ? "stop" : "more";
    });
  }
}

const isLast = (item: FeedItem) => item.type === "run.ended";
/** The lengths of a client's reads, between 8 and 60, different for each seed. */
const pieces = (seed: number) =>
  Array.from({ length: 12 }, (_, index) => 8 + (((seed + 1) * 7919 + index * 104_729) % 53));

test("W81: over both ways of the wire, who breaks at any moment has the whole text from deltas, each unit once", async () => {
  const look = {
    name: "look",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: () => "seen",
  } as const;
  const model = scriptedModel(
    ({ messages }) =>
      messages.at(-1)?.role === "user"
        ? [reasoning(...words(40)), text(...words(80)), call("look")]
        : [text(...words(80))],
    { pace: 3 },
  );
  const { server, store } = await serving({ model, tools: [look] });
  const { address } = server;
  const command = async (given: object) =>
    JSON.parse((await ask(address, "/api/v1/commands", { method: "POST", headers, body: JSON.stringify(given) })).body);
  for (let play = 0; play < (LONG ? 20 : 1); play++) {
    const { conversation } = await command({ type: "conversation.create", id: createId() });
    await command({ type: "turn.say", id: createId(), conversation, parts: say("go") });
    const readers = Array.from({ length: 8 }, () => new DeltaReader({ epoch: 1, seq: 1, offset: 0 }));
    const doors = Object.values(DOORS);
    const reading = readers.map((reader, index) =>
      readInPieces(doors[index % 2] as Door, { address, conversation }, reader, pieces(8 * play + index)),
    );
    await Promise.all(reading);
    const state = emptyConversation(conversation);
    const view = await store.view(conversation);
    for await (const events of view.read()) for (const event of events) reduce(state, event);
    await view.close();
    for (const reader of readers) expect([reader.differences(state), reader.again]).toEqual([[], 0]);
  }
});

const PROGRAM = fileURLToPath(new URL("./testing/server-program.fixture.ts", import.meta.url));

/** A server in its own process. */
async function started(directory: string) {
  const child: ChildProcessByStdio<null, Readable, null> = spawn(process.execPath, [PROGRAM, directory, TOKEN], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  return { child, address: String(line).trim() };
}

test("F40: after the server was killed, a client of deltas alone has what the log has, over both ways of the wire", async () => {
  const directory = temporaryDirectory();
  const first = await started(directory);
  const command = async (address: string, given: object) =>
    JSON.parse((await ask(address, "/api/v1/commands", { method: "POST", headers, body: JSON.stringify(given) })).body);
  const { conversation } = await command(first.address, { type: "conversation.create", id: createId() });
  const begun = { type: "turn.say", id: createId(), conversation, parts: say("at length") };
  await command(first.address, begun);
  const readers = Object.values(DOORS).flatMap((door) =>
    [1, 120].map((count) => ({ door, count, reader: new DeltaReader({ epoch: 1, seq: 1, offset: 0 }) })),
  );
  await Promise.all(
    readers.map(async ({ door, count, reader }) => {
      let left = count;
      await door({ address: first.address, conversation }, reader, (frame) => {
        if (frame.type === "feed") for (const item of frame.items) reader.take(item);
        return frame.type === "feed" && --left <= 0 ? "stop" : "more";
      });
    }),
  );
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  const second = await started(directory);
  for (const { door, reader } of readers) {
    // Missed items come before the snapshot.
    await door({ address: second.address, conversation }, reader, (frame) => {
      if (frame.type === "feed") for (const item of frame.items) reader.take(item);
      return frame.type === "snapshot" ? "stop" : "more";
    });
  }
  await command(second.address, { type: "message.label", id: createId(), conversation, message: begun.id, label: "x" });
  second.child.kill("SIGKILL");
  await once(second.child, "exit");
  const store = sqliteStore({ directory });
  onTestFinished(() => store.close());
  const state = await stored(store, conversation);
  for (const { reader } of readers) expect(reader.differences(state)).toEqual([]);
});
