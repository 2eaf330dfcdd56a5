import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { textOf } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { fromJson, toHtml, toJson, toMarkdown } from "@banyan/host/exchange";
import { type UIMessage, validateUIMessages } from "ai";
import { expect, test } from "vitest";
import { AgUiClient } from "./testing/ag-ui-client.fixture.ts";
import { served } from "./testing/served.fixture.ts";
import { TOKEN, temporaryDirectory } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";
import { Chat, textOf as textIn } from "./testing/ui-chat.fixture.ts";

const headers = { authorization: `Bearer ${TOKEN}` };

const CONVERSATION = "garden";
const REASON = "parts[1].text must be a string, not an object.";

/** A program of another version that writes a log whose second message this version cannot read. */
const WRITER = `
  import { sqliteStore } from "@banyan/store/sqlite";
  const store = sqliteStore({ directory: process.argv[1] });
  const log = await store.open("${CONVERSATION}", { create: true });
  const at = Date.now();
  const said = (message, parentId, parts) => ({ type: "message.added", message, parentId, role: "user", parts });
  const bodies = [
    { type: "conversation.created", id: "${CONVERSATION}", labels: {} },
    said("first", null, [{ type: "text", text: "Oaks are tall." }]),
    said("wrong", "first", [{ type: "text", text: "Look." }, { type: "text", text: { markdown: "*" } }]),
    said("strange", "wrong", [{ type: "hologram", of: "an oak" }]),
  ];
  await log.append(bodies.map((body, index) => ({ ...body, seq: index + 1, epoch: log.epoch, at })), { durable: true });
  await log.close();
  await store.close();
`;

async function written(directory: string): Promise<void> {
  const cwd = import.meta.dirname;
  await promisify(execFile)(process.execPath, ["--input-type=module", "-e", WRITER, directory], { cwd });
}

test("F77: a server opens another program's log with unreadable messages, reports them, and takes turns, also after a restart", async () => {
  const directory = temporaryDirectory();
  await written(directory);
  for (const turn of [1, 2]) {
    const model = scriptedModel(["Yes."]);
    await using site = await served({ model }, { directory });
    const client = await TestClient.connect(site.server);
    const { state } = await client.watch(CONVERSATION);
    expect(state.messages.get("wrong")).toMatchObject({ parts: [], unreadable: REASON });
    expect(state.messages.get("strange")).toMatchObject({ parts: [], unreadable: expect.stringContaining("hologram") });
    const text = `Is it tall (${turn})?`;
    await client.ask("turn.say", { conversation: CONVERSATION, parts: [{ type: "text", text }] });
    await client.until(() => client.items.some(({ type }) => type === "run.ended"));
    const notices = client.items.filter(({ type }) => type === "message.left-out");
    expect(notices).toMatchObject([{ message: "wrong", reason: REASON }, { message: "strange" }]);
    const asked = model.requests[0]?.messages.flatMap(({ role, parts }) => (role === "user" ? parts : []));
    expect(asked?.map((part) => "text" in part && part.text)).toEqual(
      ["Oaks are tall.", "Is it tall (1)?", "Is it tall (2)?"].slice(0, turn + 1),
    );
    expect([...state.messages.values()].map(textOf).at(-1)).toBe("Yes.");
    // Lists, searches and exports also show the messages.
    expect(await site.store.list()).toMatchObject([{ title: "Oaks are tall." }]);
    expect(await site.store.search("tall")).not.toEqual([]);
    const told = `This message cannot be read: ${REASON}`;
    expect(toMarkdown(state)).toContain(told);
    expect(toHtml(state)).toContain(told);
    const view = await site.store.view(CONVERSATION);
    const exported = toJson((await Array.fromAsync(view.read())).flat());
    expect(fromJson(exported).events).toHaveLength(view.seq);
    expect(exported).toContain(REASON);
  }
});

test("F77: AG-UI and useChat show an unreadable message in its place, and a notice in the turn that omits it; /v1 continues after it", async () => {
  const directory = temporaryDirectory();
  await written(directory);
  const told = `This message cannot be read: ${REASON}`;
  const notice = { text: `A message that cannot be read is not sent to the model: ${REASON}` };
  const model = scriptedModel(["Yes.", "Yes.", "Yes."]);
  {
    await using site = await served({ model }, { directory });
    const program = new AgUiClient(site.server.address, CONVERSATION);
    await program.runAgent();
    expect(program.told).toEqual(["user: Oaks are tall.", `user: ${told}`, expect.stringContaining("hologram")]);
    await program.say("Is it tall?");
    expect(program.seen).toContainEqual(expect.objectContaining({ name: "banyan.notice", value: notice }));
    expect(program.told.at(-1)).toBe("assistant: Yes.");
  }
  await using site = await served({ model }, { directory });
  const address = `${site.server.address}/api/chat/${CONVERSATION}`;
  const { messages } = (await (await fetch(address, { headers })).json()) as { messages: UIMessage[] };
  await validateUIMessages({ messages });
  expect(messages.map(textIn)).toEqual([
    "Oaks are tall.",
    told,
    expect.stringContaining("hologram"),
    "Is it tall?",
    "Yes.",
  ]);
  const page = new Chat(site.server.address, CONVERSATION);
  page.messages = messages;
  await page.sendMessage({ text: "And wide?" });
  expect(page.chunks).toContainEqual({ type: "data-notice", data: notice, transient: true });
  expect(textIn(page.last)).toBe("Yes.");
  const body = JSON.stringify({ model: "banyan", messages: [{ role: "user", content: "And old?" }] });
  const json = { ...headers, "content-type": "application/json", "x-banyan-conversation": CONVERSATION };
  const answer = await fetch(`${site.server.address}/v1/chat/completions`, { method: "POST", headers: json, body });
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "Yes." } }] });
});
