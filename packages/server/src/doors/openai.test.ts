import { connect } from "node:net";
import { createOpenResponses } from "@ai-sdk/open-responses";
import { defineTool } from "@banyan/core";
import { call, fail, scriptedModel, stall, text } from "@banyan/core/testing";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { ask } from "../testing/request.fixture.ts";
import { serving, TOKEN } from "../testing/serving.fixture.ts";

test("/v1: OpenAI's own client lists models, asks for completions and responses, whole and streamed; two requests on one response are two branches", async () => {
  const { server } = await serving({ model: scriptedModel(["a", "b", "c", "d", "e"]) });
  const client = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: TOKEN, maxRetries: 0 });
  expect((await client.models.list()).data.map(({ id }) => id)).toContain("banyan");

  const messages = [{ role: "user" as const, content: "hello" }];
  const whole = await client.chat.completions.create({ model: "banyan", messages });
  expect(whole.choices[0]).toMatchObject({ finish_reason: "stop", message: { role: "assistant", content: "a" } });
  let streamed = "";
  for await (const chunk of await client.chat.completions.create({ model: "banyan", messages, stream: true }))
    streamed += chunk.choices[0]?.delta.content ?? "";
  expect(streamed).toBe("b");

  const first = await client.responses.create({ model: "banyan", input: "one" });
  expect(first).toMatchObject({ status: "completed", output_text: "c" });
  const behind = { model: "banyan", previous_response_id: first.id };
  const left = await client.responses.create({ ...behind, input: "left" });
  const stream = client.responses.stream({ ...behind, input: "right" });
  const right = await stream.finalResponse();
  expect([left.output_text, right.output_text]).toEqual(["d", "e"]);

  const [conversation] = JSON.parse(String(Buffer.from(first.id.slice(5), "base64url")));
  const file = `/api/v1/conversations/${conversation}/export`;
  const { events } = JSON.parse(
    (await ask(server.address, file, { headers: { authorization: `Bearer ${TOKEN}` } })).body,
  );
  const said = events.filter((event: { role?: string }) => event.role === "user");
  expect(said.map(({ parts }: { parts: [{ text: string }] }) => parts[0].text)).toEqual(["one", "left", "right"]);
  expect(said[1].parentId).toBe(said[2].parentId);
});

test("/v1: bad input gets an error that OpenAI's client reads, without a token and by a guest nothing is begun, and a model that fails fails the request", async () => {
  const { server } = await serving(
    { model: scriptedModel([[fail("authentication")]]) },
    { guestToken: "a-guest-of-a-test-0123456789-0123456789" },
  );
  const client = (apiKey: string) => new OpenAI({ baseURL: `${server.address}/v1`, apiKey, maxRetries: 0 });
  const owner = client(TOKEN);
  await expect(client("wrong").models.list()).rejects.toMatchObject({ status: 401 });
  const hello = { model: "banyan", input: "hello" };
  await expect(client("a-guest-of-a-test-0123456789-0123456789").responses.create(hello)).rejects.toMatchObject({
    status: 403,
  });
  await expect(owner.responses.create({ ...hello, previous_response_id: "resp_x" })).rejects.toMatchObject({
    status: 404,
  });
  await expect(owner.responses.create({ ...hello, model: "no/such" })).rejects.toMatchObject({ status: 400 });
  const empty = owner.chat.completions.create({ model: "banyan", messages: [] });
  await expect(empty).rejects.toMatchObject({ status: 400, type: "invalid_request_error" });
  const tools = [{ type: "function" as const, name: "look", parameters: {}, strict: false }];
  await expect(owner.responses.create({ ...hello, tools })).rejects.toThrow("tools of the client");
  await expect(owner.responses.create(hello)).rejects.toMatchObject({ status: 500, type: "server_error" });
});

test("/v1: what asks a person is denied, and who leaves interrupts the turn", async () => {
  let ran = 0;
  const write = defineTool({
    name: "write",
    description: "Writes.",
    input: z.object({}),
    effects: "external",
    execute: () => {
      ran += 1;
      return "written";
    },
  });
  const model = scriptedModel([[call("write")], "Not done.", [text("It"), stall()]]);
  const { server } = await serving({ model, tools: [write], permission: () => ({ decision: "ask" }) });
  const client = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: TOKEN, maxRetries: 0 });
  const denied = await client.responses.create({ model: "banyan", input: "write" });
  expect([denied.output_text, ran]).toEqual(["Not done.", 0]);

  const messages = [{ role: "user" as const, content: "hello" }];
  for await (const chunk of await client.chat.completions.create({ model: "banyan", messages, stream: true }))
    if (chunk.choices[0]?.delta.content) break;
  const list = async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    return JSON.parse((await ask(server.address, "/api/v1/conversations", { headers })).body).conversations;
  };
  await vi.waitFor(async () => expect((await list())[0]).toMatchObject({ running: 0, broken: "interrupted" }), 20_000);
});

test("/v1: who asks for a stream and does not read it is let go, and the turn is interrupted", async () => {
  const many = Array.from({ length: 600 }, () => "x".repeat(64 * 1024));
  const { server } = await serving({ model: scriptedModel([[text(...many), stall()]]) });
  const { port } = new URL(server.address);
  const socket = connect(Number(port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const body = JSON.stringify({ model: "banyan", stream: true, messages: [{ role: "user", content: "hello" }] });
  const head = ["POST /v1/chat/completions HTTP/1.1", `Host: 127.0.0.1:${port}`, `Authorization: Bearer ${TOKEN}`];
  socket.pause();
  socket.write([...head, "Content-Type: application/json", `Content-Length: ${body.length}`, "", body].join("\r\n"));
  const headers = { authorization: `Bearer ${TOKEN}` };
  const ends = async () => {
    const { conversations } = JSON.parse((await ask(server.address, "/api/v1/conversations", { headers })).body);
    return conversations.map(({ broken }: { broken?: string }) => broken);
  };
  await vi.waitFor(async () => expect(await ends()).toEqual(["interrupted"]), { timeout: 30_000, interval: 100 });
});

test("/v1/responses: the client of Open Responses has the text, whole and streamed, and what it took", async () => {
  const { server } = await serving({ model: scriptedModel(["It is noon.", [text("And ", "now?")]]) });
  const provider = createOpenResponses({ name: "banyan", url: `${server.address}/v1/responses`, apiKey: TOKEN });
  const whole = await generateText({ model: provider("banyan"), prompt: "What time is it?" });
  expect([whole.text, whole.finishReason, whole.usage.outputTokens]).toEqual(["It is noon.", "stop", 1]);
  const streamed = streamText({ model: provider("banyan"), prompt: "What time is it?" });
  expect((await Array.fromAsync(streamed.textStream)).join("")).toBe("And now?");
});
