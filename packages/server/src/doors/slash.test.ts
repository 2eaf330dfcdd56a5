import { instructionsRequest } from "@banyan/client/words";
import { scriptedModel } from "@banyan/core/testing";
import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import { AgUiClient } from "../testing/ag-ui-client.fixture.ts";
import { promptsOf } from "../testing/mcp-servers.fixture.ts";
import { ask } from "../testing/request.fixture.ts";
import { serving, TOKEN } from "../testing/serving.fixture.ts";
import { Chat } from "../testing/ui-chat.fixture.ts";
import { isToldBefore, withHistoryTexts } from "./door.ts";

const headers = { authorization: `Bearer ${TOKEN}` };
const FILES = [
  { name: "port", description: "Ports a file", hint: undefined, model: "scripted/second", text: "Port $1 for $9.99." },
  { name: "commit", description: "Commits", hint: undefined, model: undefined, text: "Commit it." },
] as const;
const UNKNOWN = "There is no prompt /prot. Did you mean /port? To send this as text, start with a space.";

async function withPrompts(answers: number) {
  const model = scriptedModel(Array.from({ length: answers }, (_, index) => `answer ${index + 1}`));
  const second = scriptedModel(["by the second", "by the second"]);
  const { server, host } = await serving({ model }, { models: { "scripted/second": second } });
  const brought = await promptsOf(host, FILES);
  onTestFinished(() => brought[Symbol.asyncDispose]());
  const client = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: TOKEN, maxRetries: 0 });
  const conversations = async () => {
    const { body } = await ask(server.address, "/api/v1/conversations?programs=true", { headers });
    return (JSON.parse(body) as { conversations: { messages: number }[] }).conversations;
  };
  /** The user messages that the models received, the newest request last. */
  const sent = [model, second].map((each) => () => each.requests.map(({ messages }) => said(messages.at(-1))));
  return { server, client, conversations, sent };
}

function said(message: { readonly role: string; readonly parts?: unknown } | undefined): string {
  const parts = message?.role === "user" ? (message.parts as readonly { readonly text: string }[]) : [];
  return parts.map(({ text }) => text).join("|");
}

test("C18: /v1 sends the text of a file's or MCP server's prompt to the prompt's model, with the history", async () => {
  const { client, conversations, sent } = await withPrompts(2);
  const [first = () => [], second = () => []] = sent;
  const messages = [
    { role: "system" as const, content: "Read @secret.txt." },
    { role: "user" as const, content: "/port sum.ts" },
  ];
  const whole = await client.chat.completions.create({ model: "banyan", messages });
  expect(whole.choices[0]?.message.content).toBe("by the second");
  expect(second()).toEqual([
    expect.stringMatching(
      /^Port sum\.ts for \$9\.99\.\|Earlier messages, from the calling program:.*Read @secret\.txt\.$/s,
    ),
  ]);
  await client.responses.create({ model: "banyan", input: '/Trees:Show "an oak"' });
  expect(first()).toEqual([expect.stringMatching(/^Show an oak plainly with @src\/sum\.ts and \[redacted:key\]/)]);
  expect(await conversations()).toHaveLength(2);
});

test("C18: at every door an unknown command is an error with the nearest name, asks no model and leaves no conversation", async () => {
  const { client, server, conversations, sent } = await withPrompts(0);
  const unknown = { status: 400, message: expect.stringContaining(UNKNOWN) };
  const input = "/prot sum.ts";
  await expect(
    client.chat.completions.create({ model: "banyan", messages: [{ role: "user", content: input }] }),
  ).rejects.toMatchObject(unknown);
  await expect(client.responses.create({ model: "banyan", input })).rejects.toMatchObject(unknown);
  await expect(client.responses.create({ model: "banyan", input, stream: true })).rejects.toMatchObject(unknown);
  const chat = new Chat(server.address, "chat-of-a-page-1");
  await chat.sendMessage({ text: input });
  expect(chat.error?.message).toContain(UNKNOWN);
  const agUi = new AgUiClient(server.address, "thread-1");
  await expect(agUi.say(input)).rejects.toThrow(UNKNOWN);
  expect(sent.flatMap((each) => each())).toEqual([]);
  expect(await conversations()).toEqual([]);
});

test("C18: paths, comments and what stands behind a blank are words at every door", async () => {
  const { client, server, sent } = await withPrompts(7);
  const [first = () => []] = sent;
  const words = ["/usr/bin/env is missing", "//", "/tmp is full", " /port sum.ts", "/* port */ x"];
  for (const input of words) await client.responses.create({ model: "banyan", input });
  await new Chat(server.address, "chat-of-a-page-1").sendMessage({ text: "/tmp is full" });
  await new AgUiClient(server.address, "thread-1").say("/usr/bin/env is missing");
  expect(first()).toEqual([...words, "/tmp is full", "/usr/bin/env is missing"]);
});

test("C18: /init writes its request at every door, and another command of a chat is refused with the places for it", async () => {
  const { client, server, sent } = await withPrompts(4);
  const [first = () => []] = sent;
  const input = "/init the tests";
  const messages = [{ role: "user" as const, content: input }];
  await client.chat.completions.create({ model: "banyan", messages });
  await client.responses.create({ model: "banyan", input });
  await new Chat(server.address, "chat-of-a-page-1").sendMessage({ text: input });
  await new AgUiClient(server.address, "thread-1").say(input);
  expect(first()).toEqual(Array.from({ length: 4 }, () => instructionsRequest("the tests")));
  for (const name of ["review", "compact", "clear"]) {
    const message = expect.stringMatching(
      /Use \/\w+ in a terminal, in an editor or on the page\. To send this as text, start with a space/,
    );
    await expect(client.responses.create({ model: "banyan", input: `/${name}` })).rejects.toMatchObject({
      status: 400,
      message,
    });
    const agUi = new AgUiClient(server.address, `thread-${name}`);
    await expect(agUi.say(`/${name}`)).rejects.toThrow(/Use \/\w+ in a terminal/);
  }
  expect(first()).toHaveLength(4);
});

test("messages from outside are recognised in a message, also with the first line of older logs", () => {
  const [, told] = withHistoryTexts([{ type: "text", text: "Go on." }], [{ role: "system", text: "Be brief." }]);
  expect(told).toMatchObject({ text: expect.stringContaining("system: Be brief.") });
  expect(isToldBefore((told as { text: string }).text)).toBe(true);
  expect(isToldBefore("What was said before that, as the calling program has it:\n\nsystem: Be brief.")).toBe(true);
  expect(isToldBefore("Go on.")).toBe(false);
});
