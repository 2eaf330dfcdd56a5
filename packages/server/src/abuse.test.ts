import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { deflateRawSync } from "node:zlib";
import { createId, defineTool } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { PROTOCOL } from "@banyan/protocol";
import { expect, onTestFinished, test } from "vitest";
import { ask } from "./testing/request.fixture.ts";
import { serving, TOKEN } from "./testing/serving.fixture.ts";
import { signIn } from "./testing/sign-in.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const bearer = { authorization: `Bearer ${TOKEN}` };
const server = () => serving({ model: scriptedModel([]) });

/** A raw TCP connection, on which a test can send anything. */
async function bare(address: string): Promise<Socket> {
  const socket = connect(Number(new URL(address).port), "127.0.0.1");
  // The server cuts the connection, as the test expects.
  socket.on("error", () => {}).resume();
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => (socket.closed ? resolve(undefined) : socket.once("close", resolve)));
}

/** A raw connection after the WebSocket upgrade, and the response to the upgrade. */
async function bareWebSocket(address: string, extensions: string) {
  const socket = await bare(address);
  const lines = [
    "GET /api/v1/socket HTTP/1.1",
    `Host: ${new URL(address).host}`,
    `Authorization: ${bearer.authorization}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    `Sec-WebSocket-Extensions: ${extensions}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const [answer] = await once(socket, "data");
  return { socket, answer: String(answer) };
}

/** A frame of RFC 6455, masked with zeros; `first` is its first byte. */
function frame(first: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(14);
  head.writeUInt8(first, 0);
  head.writeUInt8(0x80 | 127, 1);
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

const HELLO = frame(0x81, Buffer.from(JSON.stringify({ type: "hello", protocol: PROTOCOL, client: "a test" })));

test("S1: idle, slow and silent connections are closed, and other clients are served", async () => {
  const { server: running } = await server();
  const [silent, slow] = [await bare(running.address), await bare(running.address)];
  slow.write(`GET /api/v1/health HTTP/1.1\r\nHost: ${new URL(running.address).host}\r\nX-Slow: `);
  const greeting = new TestClient(running.address, bearer);
  expect(await ask(running.address, "/api/v1/health")).toMatchObject({ status: 200 });
  await Promise.all([closed(silent), closed(slow)]);
  expect(await greeting.end()).toMatchObject({ code: 4408 });
  expect(await ask(running.address, "/api/v1/health")).toMatchObject({ status: 200 });
});

test("S1: more connections than the server takes are turned away and logged, and those that are there go on", async () => {
  const { server: running, log } = await serving({ model: scriptedModel([]) }, { connections: 20 });
  const client = await TestClient.connect(running);
  const others = await Promise.all(Array.from({ length: 40 }, () => bare(running.address)));
  await expect
    .poll(
      () => log.filter((line) => line.includes("connection refused: the maximum of 20 connections is reached")).length,
    )
    .toBe(21);
  await expect.poll(() => others.filter((socket) => socket.closed).length).toBeGreaterThan(20);
  expect(await client.ask("conversation.list", {})).toEqual({ conversations: [] });
  for (const socket of others) socket.destroy();
  await expect.poll(() => ask(running.address, "/api/v1/health").catch(String)).toMatchObject({ status: 200 });
});

test("S4: guests get a part of the connections, and one address a small part: the next guest gets the reason, and the owner gets in", async () => {
  const guestToken = "a-guest-of-a-test-0123456789-0123456789";
  const more = { connections: 40, guestToken };
  const { server: running, log } = await serving({ model: scriptedModel(["Hello."]) }, more);
  const owner = await TestClient.connect(running);
  const { conversation } = await owner.ask("conversation.create", {});
  await owner.ask("turn.say", { conversation, parts: [{ type: "text", text: "Hi" }] });
  const guest = { authorization: `Bearer ${guestToken}` };
  const first = await TestClient.connect(running, guestToken);
  const feed = () => fetch(`${running.address}/api/v1/conversations/${conversation}/feed`, { headers: guest });
  const second = await feed();
  expect(second.status).toBe(200);
  const refused = /This server allows at most 2 guests from your address\. Close another page/;
  const third = await feed();
  expect([third.status, await third.text()]).toEqual([429, expect.stringMatching(refused)]);
  await expect(TestClient.connect(running, guestToken)).rejects.toThrow();
  expect(log.join("\n")).toMatch(refused);
  await TestClient.connect(running);
  // A closed connection frees its place.
  await second.body?.cancel();
  await expect.poll(async () => (await feed()).status).toBe(200);
  first.socket.close();
});

test("a client that sends compressed frames, or one message in very many, is refused before they are read", async () => {
  const { server: running, log } = await server();
  const packed = await bareWebSocket(running.address, "permessage-deflate; client_max_window_bits");
  expect(packed.answer).toMatch(/^HTTP\/1.1 101 /);
  expect(packed.answer.toLowerCase()).not.toContain("permessage-deflate; client_max");
  packed.socket.write(Buffer.concat([HELLO, frame(0xc1, deflateRawSync(Buffer.alloc(100_000_000)))]));
  await closed(packed.socket);
  const { socket } = await bareWebSocket(running.address, "");
  const piece = frame(0x00, Buffer.from(" "));
  socket.write(Buffer.concat([HELLO, frame(0x01, Buffer.from("{")), ...Array<Buffer>(20_000).fill(piece)]));
  await closed(socket);
  expect(log.join("\n")).toMatch(/RSV1 must be clear[\s\S]*Too many message fragments/);
  const other = await TestClient.connect(running);
  expect(await other.ask("conversation.list", {})).toEqual({ conversations: [] });
});

test("S2: the server refuses every request that a form of another site can send", async () => {
  const { server: running, store } = await server();
  const { cookie } = await signIn(running.address, TOKEN);
  const body = JSON.stringify({ type: "conversation.import", id: createId(), text: "{}" });
  const port = new URL(running.address).port;
  const senders: readonly Readonly<Record<string, string>>[] = [
    { origin: "http://evil.example" },
    { origin: "null" },
    { origin: `http://localhost:${port}` },
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
    {},
  ];
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
    for (const sender of senders) {
      const sent = { method: "POST", headers: { cookie, "content-type": type, ...sender }, body };
      // A request without an origin has at most the cookie, which is worth nothing (S20).
      const status = Object.keys(sender).length > 0 ? 403 : 401;
      expect(await ask(running.address, "/api/v1/commands", sent), JSON.stringify(sent)).toMatchObject({ status });
      expect(await ask(running.address, "/api/v1/conversations", sent)).toMatchObject({ status });
    }
  }
  expect(await store.list()).toEqual([]);
});

test("a request with headers without end, with two lengths, or without a Host is refused, and the server lives", async () => {
  const { server: running } = await server();
  const host = new URL(running.address).host;
  const requests = [
    [`GET /api/v1/health HTTP/1.1\r\nHost: ${host}\r\nX: ${"x".repeat(100_000)}\r\n\r\n`, /^(HTTP\/1.1 431 .*)?$/s],
    [
      `POST /api/v1/commands HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      /^HTTP\/1.1 400 /,
    ],
    ["GET /api/v1/health HTTP/1.1\r\n\r\n", /^HTTP\/1.1 400 /],
  ] as const;
  for (const [request, answer] of requests) {
    const socket = await bare(running.address);
    let said = "";
    socket.on("data", (chunk) => {
      said += String(chunk);
    });
    socket.end(request);
    await closed(socket);
    expect(said).toMatch(answer);
  }
  expect(await ask(running.address, "/api/v1/health")).toMatchObject({ status: 200 });
});

test("F19: a client that does not read does not hold up the stop of the server", async () => {
  const loud = defineTool({
    name: "loud",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute(_input: unknown, { progress }) {
      for (let i = 0; i < 500; i++) progress("y".repeat(16 * 1024));
      return "loud enough";
    },
  });
  const { server: running } = await serving({ model: scriptedModel([[call("loud")], "Quiet."]), tools: [loud] });
  const [reads, sleeps] = [await TestClient.connect(running), await TestClient.connect(running)];
  const { conversation } = await reads.ask("conversation.create", {});
  await Promise.all([reads.watch(conversation), sleeps.watch(conversation)]);
  const stream = await bare(running.address);
  stream
    .pause()
    .write(
      `GET /api/v1/conversations/${conversation}/feed HTTP/1.1\r\nHost: ${new URL(running.address).host}\r\nAuthorization: ${bearer.authorization}\r\n\r\n`,
    );
  sleeps.socket.pause();
  await reads.ask("turn.say", { conversation, parts: [{ type: "text", text: "go" }] });
  await reads.item("run.ended");
  await running.stop();
  expect(await reads.end()).toMatchObject({ code: 1001 });
});
