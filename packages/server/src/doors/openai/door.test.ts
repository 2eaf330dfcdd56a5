import { connect } from "node:net";
import { createOpenResponses } from "@ai-sdk/open-responses";
import { defineTool } from "@banyan/core";
import { call, fail, scriptedModel, stall, text } from "@banyan/core/testing";
import { generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { ask } from "../../testing/request.fixture.ts";
import { serving, TOKEN } from "../../testing/serving.fixture.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

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

test("/v1/chat/completions: usage comes in a last chunk to who asks for it, and the roles developer and system, pictures and listed models are taken", async () => {
  const model = scriptedModel(Array(9).fill("Yes."));
  const { server } = await serving({ model });
  const client = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: TOKEN, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "hello" }];
  const chunks = async (include_usage?: boolean) => {
    const asked = { model: "banyan", messages, stream: true as const };
    const all: OpenAI.ChatCompletionChunk[] = [];
    const options = include_usage === undefined ? {} : { stream_options: { include_usage } };
    for await (const chunk of await client.chat.completions.create({ ...asked, ...options })) all.push(chunk);
    return all;
  };
  const last = (await chunks(true)).at(-1);
  expect(last).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
  expect((await chunks()).filter(({ choices, usage }) => choices.length === 0 || usage)).toEqual([]);

  const url = `data:image/png;base64,${PIXEL}`;
  for (const role of ["developer", "system"] as const) {
    const instructions = { role, content: `Be brief, says the ${role}.` };
    const content = [
      { type: "text" as const, text: `What is this, ${role}?` },
      { type: "image_url" as const, image_url: { url } },
    ];
    await client.chat.completions.create({ model: "banyan", messages: [instructions, { role: "user", content }] });
    const request = model.requests.at(-1);
    expect(JSON.stringify([request?.instructions, request?.messages])).toContain(`Be brief, says the ${role}.`);
    expect(JSON.stringify(request?.messages)).toContain(PIXEL);
  }

  for (const { id } of (await client.models.list()).data)
    expect(await client.chat.completions.create({ model: id, messages })).toMatchObject({ object: "chat.completion" });
  await expect(client.chat.completions.create({ model: "no/such", messages })).rejects.toMatchObject({
    status: 400,
    type: "invalid_request_error",
    message: expect.stringContaining("no/such"),
  });
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
  const tools = [{ type: "web_search" as const }];
  await expect(owner.responses.create({ ...hello, tools })).rejects.toThrow(
    'tools.0: expected a tool of type "function"',
  );
  await expect(client("wrong").models.list()).rejects.toMatchObject({
    type: "invalid_request_error",
    code: "forbidden",
  });
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
    return JSON.parse((await ask(server.address, "/api/v1/conversations?programs=true", { headers })).body)
      .conversations;
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
    const { conversations } = JSON.parse(
      (await ask(server.address, "/api/v1/conversations?programs=true", { headers })).body,
    );
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

const locate = {
  name: "locate",
  description: "Where somebody is.",
  parameters: { type: "object", properties: { of: { type: "string" } }, required: ["of"] },
};

test("/v1/chat/completions: calls of the client's tools are handed out, whole and streamed; its results go back to the turn that waits, without a header", async () => {
  const both = [text("I ask."), call("locate", { of: "me" }), call("locate", { of: "you" })];
  const model = scriptedModel([both, "Here and there.", [call("locate", { of: "him" })], "Gone."]);
  const { server } = await serving({ model, permission: () => ({ decision: "ask" }) });
  const client = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: TOKEN, maxRetries: 0 });
  const tools = [{ type: "function" as const, function: locate }];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "where?" }];
  const first = await client.chat.completions.create({ model: "banyan", messages, tools });
  const [choice] = first.choices;
  expect([choice?.finish_reason, choice?.message.content]).toEqual(["tool_calls", "I ask."]);
  const calls = choice?.message.tool_calls ?? [];
  expect(calls).toMatchObject([
    { function: { name: "locate", arguments: '{"of":"me"}' } },
    { function: { arguments: '{"of":"you"}' } },
  ]);
  const results = calls.map(
    ({ id }, at) => ({ role: "tool", tool_call_id: id, content: ["here", "there"][at] }) as const,
  );
  messages.push(choice?.message as never, ...(results as never[]));
  const second = await client.chat.completions.create({ model: "banyan", messages, tools });
  expect(second.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "Here and there." } });
  const told = JSON.stringify(model.requests.at(-1)?.messages);
  expect([told.includes('"here"'), told.includes('"there"')]).toEqual([true, true]);
  // A streaming client gets the same result.
  const runner = client.chat.completions.stream({
    model: "banyan",
    messages: [{ role: "user", content: "he?" }],
    tools,
  });
  const [streamed] = (await runner.finalChatCompletion()).choices;
  const made = streamed?.message.tool_calls?.find((each) => each.type === "function");
  expect([streamed?.finish_reason, made?.function.arguments]).toEqual(["tool_calls", '{"of":"him"}']);
  const again = [{ role: "tool" as const, tool_call_id: made?.id ?? "", content: "gone" }];
  const last = await client.chat.completions.create({ model: "banyan", messages: again, tools });
  expect(last.choices[0]?.message.content).toBe("Gone.");
  // An answered call cannot be answered again.
  const twice = client.chat.completions.create({ model: "banyan", messages: again, tools });
  await expect(twice).rejects.toMatchObject({ status: 404, type: "invalid_request_error" });
});

test("/v1/responses: calls of the client's tools are items, which both clients read, and outputs go on", async () => {
  const step = () => [call("locate", { of: "me" })];
  const { server } = await serving({ model: scriptedModel([step(), "Here.", step(), "Here too."]) });
  const client = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: TOKEN, maxRetries: 0 });
  const tools = [{ type: "function" as const, strict: false, ...locate }];
  const first = await client.responses.stream({ model: "banyan", input: "where?", tools }).finalResponse();
  const [item] = first.output;
  expect(item).toMatchObject({ type: "function_call", name: "locate", arguments: '{"of":"me"}', status: "completed" });
  const call_id = item?.type === "function_call" ? item.call_id : "";
  const input = [{ type: "function_call_output" as const, call_id, output: "here" }];
  const second = await client.responses.create({ model: "banyan", input, tools, previous_response_id: first.id });
  expect(second.output_text).toBe("Here.");

  const provider = createOpenResponses({ name: "banyan", url: `${server.address}/v1/responses`, apiKey: TOKEN });
  const asked: unknown[] = [];
  const look = tool({
    description: "",
    inputSchema: jsonSchema(locate.parameters as never),
    execute: (given) => {
      asked.push(given);
      return "here";
    },
  });
  const taken = await generateText({
    model: provider("banyan"),
    prompt: "and now?",
    tools: { locate: look },
    stopWhen: isStepCount(3),
  });
  expect([taken.text, asked]).toEqual(["Here too.", [{ of: "me" }]]);
});

test("/v1/chat/completions: a whole history continues the conversation with the same history; a changed history is a branch", async () => {
  const model = scriptedModel(["It is an oak.", "It is old.", "It is very old.", "It is a fig."]);
  const { server } = await serving({ model });
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const said: { role: string; content: unknown }[] = [{ role: "system", content: "You know trees." }];
  const ask_ = async (more: object) => {
    const body = JSON.stringify({ model: "banyan", messages: said, ...more });
    const answer = await ask(server.address, "/v1/chat/completions", { method: "POST", headers, body });
    expect(answer.status, answer.body).toBe(200);
    return String(answer.headers["x-banyan-conversation"]);
  };
  // A request like Open WebUI's, with its data about the chat.
  const features = { stream_options: { include_usage: true }, metadata: { chat_id: "1" }, features: {}, variables: {} };
  said.push({ role: "user", content: "What tree is this?" });
  const first = await ask_({ stream: true, ...features });
  said.push(
    { role: "assistant", content: "It is an oak." },
    { role: "user", content: [{ type: "text", text: "How old?" }] },
  );
  const second = await ask_({ stream: true, ...features });
  // A request like LibreChat's for another answer.
  const sampling = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, user: "an-id", stop: null };
  const again = await ask_({ stream: false, ...sampling });
  expect([second, again]).toEqual([first, first]);
  // A different history belongs to another conversation.
  said.splice(1, 1, { role: "user", content: "What tree is that?" });
  expect(await ask_({ stream: false, ...sampling, max_tokens: 20 })).not.toBe(first);
  const { body } = await ask(server.address, `/api/v1/conversations/${first}/export`, { headers });
  const users = JSON.parse(body).events.filter((event: { role?: string }) => event.role === "user");
  expect(users.map(({ parts }: { parts: { text: string }[] }) => parts[0]?.text)).toEqual([
    "What tree is this?",
    "How old?",
    "How old?",
  ]);
  expect(users[1].parentId).toBe(users[2].parentId);
  expect(JSON.stringify(model.requests[1]?.messages)).toContain("You know trees.");
});

test("F93: /v1 refuses a message that is larger than the window before it is sent, and asks nobody", async () => {
  const model = scriptedModel(["Well."]);
  const storeText = () => Promise.reject(new Error("Nobody agreed to that."));
  const { server } = await serving({ model, compaction: { contextSize: 4_000 }, storeText });
  const client = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: TOKEN, maxRetries: 0 });
  const asked = (content: string) =>
    client.chat.completions.create({ model: "banyan", messages: [{ role: "user" as const, content }] });
  await expect(asked("lorem ipsum ".repeat(3_000))).rejects.toThrow(/Your message has about 9,000 tokens/);
  expect(model.asked).toBe(0);
  expect((await asked("Hello.")).choices[0]).toMatchObject({ message: { content: "Well." } });
});

test("E15: chat completions and responses have the results of a goal as reasoning, whole and streamed", async () => {
  const run = ({ answer }: { readonly answer: string }) =>
    answer === "Two." ? { passed: true } : { passed: false, why: "it is 1" };
  const goal = { checks: [{ what: "it is 2", run }] };
  const script = Array.from({ length: 5 }, () => ["One.", "Two."]).flat();
  const { server } = await serving({ model: scriptedModel(script), goal });
  const client = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: TOKEN, maxRetries: 0 });
  const asked = { model: "banyan", messages: [{ role: "user" as const, content: "count" }] };
  const [open, done] = ["Goal not reached yet. These checks failed: it is 2 (it is 1).", "Goal reached: it is 2."];
  const told = { content: "One.\n\nTwo.", reasoning_content: `${open}\n${done}\n` };
  const said = { content: "", reasoning_content: "" };
  for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true })) {
    const { content, reasoning_content }: { content?: string | null; reasoning_content?: string } =
      choices[0]?.delta ?? {};
    said.content += content ?? "";
    said.reasoning_content += reasoning_content ?? "";
  }
  expect(said).toEqual(told);
  expect((await client.chat.completions.create(asked)).choices[0]?.message).toMatchObject(told);

  const reasoning = (text: string) => ({ type: "reasoning", summary: [{ type: "summary_text", text }] });
  const output = [
    { type: "message", content: [{ text: "One." }] },
    reasoning(open),
    { type: "message", content: [{ text: "Two." }] },
    reasoning(done),
  ];
  const whole = await client.responses.create({ model: "banyan", input: "count" });
  expect(whole.output).toMatchObject(output);
  const stream = client.responses.stream({ model: "banyan", input: "count" });
  const items: unknown[] = [];
  stream.on("event", (event) => event.type === "response.output_item.done" && items.push(event.item));
  expect((await stream.finalResponse()).output.map(({ id }) => id?.split("_")[0])).toEqual(["msg", "rs", "msg", "rs"]);
  expect(items).toMatchObject(output);
  const provider = createOpenResponses({ name: "banyan", url: `${server.address}/v1/responses`, apiKey: TOKEN });
  const taken = await generateText({ model: provider("banyan"), prompt: "count" });
  expect([taken.text, taken.reasoningText]).toEqual(["One.Two.", `${open}${done}`]);
});

test("/v1: a turn that ends at a limit has the finish reason length, or the status incomplete", async () => {
  const look = defineTool({
    name: "look",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: () => "seen",
  });
  const model = scriptedModel([[call("look")], "So far.", [call("look")], "So far."]);
  const { server } = await serving({ model, tools: [look], limits: { steps: 1 } });
  const client = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: TOKEN, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "go" }];
  const chat = await client.chat.completions.create({ model: "banyan", messages });
  expect(chat.choices[0]).toMatchObject({ finish_reason: "length", message: { content: "So far." } });
  const response = await client.responses.create({ model: "banyan", input: "go" });
  expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
});
