import { Agent, Session } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import type { ServerFrame } from "@banyan/protocol";
import { memoryStore } from "@banyan/store/memory";
import { expect, test } from "vitest";
import { Broadcast } from "./broadcast.ts";
import type { ClientFrame } from "./frame.ts";
import { type ClientConnection, Subscription } from "./subscription.ts";

/** A connection with room for one frame, whose other end reads on demand. */
class NarrowLine implements ClientConnection {
  frames: string[] = [];
  #read: (() => void) | undefined;
  readonly viewer: ClientConnection["viewer"] = { rights: ["watch", "act"] };
  isFull = false;

  send({ bytes }: ClientFrame): void {
    if (this.isFull) throw new Error("A frame was sent although there was no room.");
    this.frames.push(bytes.toString());
    this.isFull = true;
  }

  room(): Promise<void> {
    return new Promise((resolve) => {
      this.#read = resolve;
    });
  }

  read(): void {
    this.isFull = false;
    this.#read?.();
  }
}

test("F19: a client that catches up with a long log gets the next frame only after it reads", async () => {
  await using session = await Session.open(memoryStore());
  const agent = new Agent({ model: scriptedModel(() => "y".repeat(256 * 1024)) });
  for (let turn = 0; turn < 8; turn++) await agent.send("Go on", { session });
  const line = new NarrowLine();
  const failures: unknown[] = [];
  const subscription = new Subscription(session, new Broadcast(session), line, (error) => failures.push(error));
  await subscription.begin({ epoch: 0, seq: 0, offset: 0 }, undefined);
  for (let reads = 0; !subscription.isInStep && reads < 100; reads++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(line.frames.length).toBeLessThanOrEqual(reads + 1);
    line.read();
  }
  expect(line.frames.length).toBeGreaterThan(8);
  const told = line.frames.flatMap((frame) => JSON.parse(frame).items);
  // Text also arrives as deltas, before its event.
  const events = told.filter((item) => "at" in item);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  subscription.end();
  expect(failures).toEqual([]);
});

test("W49: a client that joins during a retry gets the retry's notice after the snapshot; a later client does not", async () => {
  await using session = await Session.open(memoryStore());
  const broadcast = new Broadcast(session);
  const told = async () => {
    const frames: ServerFrame[] = [];
    const viewer: ClientConnection["viewer"] = { rights: ["watch"] };
    const line: ClientConnection = {
      viewer,
      isFull: false,
      send: ({ told }) => frames.push(told),
      room: () => Promise.resolve(),
    };
    const subscription = new Subscription(session, broadcast, line, () => expect.unreachable());
    await subscription.begin(undefined, undefined);
    subscription.end();
    return frames.flatMap((frame): readonly unknown[] => (frame.type === "feed" ? frame.items : [frame.type]));
  };
  const notice = {
    type: "model.retrying",
    attempt: 2,
    delay: 60_000,
    code: "overloaded",
    reason: "It is busy.",
  } as const;
  session.notify({ ...notice, run: "over", nextAt: Date.now() - 1 });
  expect(await told()).toEqual(["snapshot"]);
  const stands = { ...notice, run: "waits", nextAt: Date.now() + 60_000 };
  session.notify(stands);
  expect(await told()).toEqual(["snapshot", stands]);
});

test("F37: a client gets an error and does not wait if the log cannot be read", async () => {
  const store = memoryStore();
  const open = store.open.bind(store);
  let isBroken = false;
  store.open = async (...where) => {
    const log = await open(...where);
    const read = log.read.bind(log);
    log.read = (after) => {
      if (isBroken) throw new Error("input/output error");
      return read(after);
    };
    return log;
  };
  await using session = await Session.open(store);
  await new Agent({ model: scriptedModel(["Hello."]) }).send("Hi", { session });
  isBroken = true;
  const failed = Promise.withResolvers<unknown>();
  const subscription = new Subscription(session, new Broadcast(session), new NarrowLine(), failed.resolve);
  await subscription.begin({ epoch: 0, seq: 0, offset: 0 }, undefined);
  expect(await failed.promise).toEqual(new Error("input/output error"));
  subscription.end();
});

test("V8: the second client that begins to watch costs only the messages that changed since the first", async () => {
  await using session = await Session.open(memoryStore());
  const messages = 3000;
  let parentId: string | null = null;
  for (let index = 0; index < messages; index++) {
    const message = `m${index}`;
    const parts = [{ type: "text", text: `Message ${index}` }] as const;
    await session.commit([{ type: "message.added", message, parentId, role: "user", parts }]);
    parentId = message;
  }
  let reads = 0;
  const watched = (message: object) =>
    new Proxy(message, {
      get: (target, name, proxy) => {
        if (name === "createdAt") reads++;
        return Reflect.get(target, name, proxy);
      },
    });
  const all = session.state.messages as Map<string, object>;
  for (const [id, message] of all) all.set(id, watched(message));
  const broadcast = new Broadcast(session);
  /** Returns the snapshot, and the number of messages that were encoded for its outline. */
  const arrival = async () => {
    const line = new NarrowLine();
    reads = 0;
    const subscription = new Subscription(session, broadcast, line, () => expect.unreachable());
    await subscription.begin(undefined, undefined);
    subscription.end();
    // The view has the last 200 messages, whole.
    return { snapshot: JSON.parse(line.frames[0] ?? ""), encoded: reads - 200 };
  };
  const first = await arrival();
  expect(first.encoded).toBe(messages);
  expect(await arrival()).toEqual({ ...first, encoded: 0 });
  await session.commit([{ type: "message.starred", message: "m7", starred: true }]);
  const third = await arrival();
  expect(third.snapshot.nodes[7].starred).toBe(true);
  expect(third.encoded).toBeLessThanOrEqual(messages / 10);
});
