import { createId } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { LARGEST_FRAME } from "@banyan/protocol";
import { describe, expect, test } from "vitest";
import { ask } from "./testing/request.fixture.ts";
import { serving, TOKEN } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const bearer = { authorization: `Bearer ${TOKEN}` };
const server = () => serving({ model: scriptedModel([]) });

describe("invalid frames", () => {
  test("a malformed frame is refused and logged, its connection ends, and the server goes on for others", async () => {
    const { server: running, log } = await server();
    const bad = ["{", "[]", '"hello"', "null", '{"type":1}', '{"type":"turn.say"}', '{"type":"turn.say","id":".."}'];
    for (const frame of bad) {
      const client = await TestClient.connect(running);
      client.sendText(frame);
      expect(await client.end(), frame).toMatchObject({ code: 4400 });
      expect(client.frames.at(-1)).toMatchObject({ type: "fault" });
    }
    const binary = await TestClient.connect(running);
    binary.socket.send(Buffer.from([0xff, 0xfe]), { binary: true });
    expect(await binary.end()).toMatchObject({ code: 4400 });
    const notUtf8 = await TestClient.connect(running);
    notUtf8.socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
    expect(await notUtf8.end()).toMatchObject({ code: 1007 });
    expect(log.filter((line) => line.includes("refused"))).toHaveLength(bad.length + 1);
    const other = await TestClient.connect(running);
    expect(await other.ask("conversation.list", {})).toEqual({ conversations: [] });
  });

  test("a command that is nested a hundred thousand levels deep is malformed, and no more", async () => {
    const { server: running } = await server();
    const client = await TestClient.connect(running);
    const [id, conversation, question] = [createId(), createId(), createId()];
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const command = `{"type":"question.answer","id":"${id}","conversation":"${conversation}","question":"${question}","answer":{"decision":"allow","input":${deep}}}`;
    client.sendText(command);
    expect(await client.outcome(id)).toMatchObject({ type: "failed", error: { code: "malformed" } });
    const post = { method: "POST", headers: bearer, body: command };
    expect(await ask(running.address, "/api/v1/commands", post)).toMatchObject({ status: 400 });
    expect(await client.ask("conversation.list", {})).toEqual({ conversations: [] });
  });

  test("an oversized frame ends its connection before it is read", async () => {
    const { server: running } = await server();
    const client = await TestClient.connect(running);
    client.sendText(JSON.stringify({ type: "conversation.import", id: createId(), text: "x".repeat(LARGEST_FRAME) }));
    expect(await client.end()).toMatchObject({ code: 1009 });
    const other = await TestClient.connect(running);
    expect(await other.ask("conversation.list", {})).toEqual({ conversations: [] });
    const post = { method: "POST", headers: bearer, body: "x".repeat(LARGEST_FRAME + 1) };
    expect(await ask(running.address, "/api/v1/commands", post)).toMatchObject({ status: 413 });
  });

  test("a command before hello is refused, as is a first frame that is no hello", async () => {
    const { server: running } = await server();
    const client = new TestClient(running.address, bearer);
    await new Promise((resolve) => client.socket.once("open", resolve));
    client.sendText(JSON.stringify({ type: "conversation.list", id: createId() }));
    expect(await client.end()).toMatchObject({ code: 4400 });
  });

  test("a client that sends too fast gets an error, and is disconnected if it continues", async () => {
    const { server: running } = await server();
    const client = await TestClient.connect(running);
    for (let i = 0; i < 5_000; i++) client.send("conversation.list", {});
    expect(await client.end()).toMatchObject({ code: 4429 });
    const busy = client.frames.filter((frame) => frame.type === "failed" && frame.error.code === "busy");
    expect(busy.length).toBeGreaterThan(1_000);
    const other = await TestClient.connect(running);
    expect(await other.ask("conversation.list", {})).toEqual({ conversations: [] });
  });

  test("data of a client adds no lines to the log, and cannot control the terminal that shows the log", async () => {
    const { server: running, log } = await server();
    await ask(running.address, "/%0a%1b[31mforged", {});
    await ask(running.address, "/api/v1/models?x=%0d%0aforged");
    expect(log).toHaveLength(2);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test checks for control characters.
    expect(log.join("")).not.toMatch(/[\u0000-\u001f\u007f]/);
  });
});
