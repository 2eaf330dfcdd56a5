import { Agent, type Message, pathTo, Session, type Store, textOf } from "@banyan/core";
import { type ScriptedModel, scriptedModel } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { handler } from "../../handler.ts";
import { serve } from "../../server.ts";
import { serving, TOKEN, temporaryDirectory } from "../../testing/serving.fixture.ts";

const PIXEL = `data:image/png;base64,${"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}`;

const call = (id: string, input: string) => ({ id, type: "function", function: { name: "look", arguments: input } });
/** A history of another program, with a picture, two calls at once, and a response after their results. */
const HISTORY = [
  {
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: PIXEL } },
    ],
  },
  { role: "assistant", content: "I look.", tool_calls: [call("a", '{"at":"tree"}'), call("b", "{ no JSON")] },
  { role: "tool", tool_call_id: "b", content: "nothing" },
  { role: "tool", tool_call_id: "a", content: "an oak" },
  { role: "assistant", content: "An oak." },
  { role: "user", content: "Sure?" },
  { role: "assistant", content: "Yes." },
];
const NEXT = { role: "user", content: "How old?" };
/** The same history as the items of a response. */
const ITEMS = [
  {
    role: "user",
    content: [
      { type: "input_text", text: "What is this?" },
      { type: "input_image", image_url: PIXEL },
    ],
  },
  { role: "assistant", content: [{ type: "output_text", text: "I look." }] },
  { type: "function_call", call_id: "a", name: "look", arguments: '{"at":"tree"}' },
  { type: "function_call", call_id: "b", name: "look", arguments: "{ no JSON" },
  { type: "function_call_output", call_id: "b", output: "nothing" },
  { type: "function_call_output", call_id: "a", output: "an oak" },
  { role: "assistant", content: "An oak." },
  { type: "reasoning", id: "r", summary: [] },
  ...HISTORY.slice(5),
];

/** The messages of a tree without ids and times. */
function shapeOf({ state }: Session) {
  const places = new Map([...state.messages.keys()].map((id, index) => [id, index]));
  return [...state.messages.values()].map((message) => ({
    parent: message.parentId === null ? null : places.get(message.parentId),
    role: message.role,
    parts: message.parts,
    ...(message.role === "assistant" && {
      finish: message.finish,
      calls: message.calls.map(({ id, tool, input, inputText, status, output }) => [
        id,
        tool,
        input,
        inputText,
        status,
        output,
      ]),
    }),
  }));
}

async function opened(store: Store, conversation: string | null): Promise<Session> {
  const session = await Session.open(store, conversation ?? "");
  onTestFinished(() => session.close());
  return session;
}

const agentOf = (model: ScriptedModel) => new Agent({ name: "guide", model, instructions: "You guide." });
const post = (
  fetch: (request: Request) => Promise<Response>,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
) =>
  fetch(
    new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: "guide", ...body }),
    }),
  );

/** Sends the requests of `post` to a server. */
const at = (address: string) => async (request: Request) =>
  fetch(request.url.replace("http://localhost", address), {
    method: "POST",
    headers: request.headers,
    body: await request.text(),
  });

function site(model: ScriptedModel) {
  const store = sqliteStore({ directory: temporaryDirectory() });
  const own = handler(agentOf(model), { store, token: TOKEN, idle: 1 });
  onTestFinished(async () => {
    await own.close();
    await store.close();
  });
  return { store, ...own };
}

describe("earlier messages of a request", () => {
  test.each([
    ["/v1/chat/completions", { messages: [...HISTORY, NEXT] }],
    ["/v1/responses", { input: [...ITEMS, NEXT] }],
  ])("L5: %s makes the same tree and the same request as the library", async (path, body) => {
    const [model, ownModel] = [scriptedModel(["Old."]), scriptedModel(["Old."])];
    const session = Session.inMemory();
    await session.addHistory(HISTORY);
    await agentOf(ownModel).send(NEXT, { session });

    const { fetch, store, close } = site(model);
    const answered = await post(fetch, path, body);
    expect([answered.status, await answered.text()]).toEqual([200, expect.stringContaining("Old.")]);
    await close();
    const made = await opened(store, answered.headers.get("x-banyan-conversation"));
    expect(shapeOf(made)).toEqual(shapeOf(session));
    expect(model.requests[0]?.messages).toEqual(ownModel.requests[0]?.messages);
  });

  test("W89: the next requests continue the conversation, also on branches and after a restart", async () => {
    const model = scriptedModel((_, index) => `Answer ${index}.`);
    const store = sqliteStore({ directory: temporaryDirectory() });
    onTestFinished(() => store.close());
    const messages: object[] = [...HISTORY, NEXT];
    const conversations = new Set<string | null>();
    const ask = async (said: readonly object[]) => {
      await using server = await serve(agentOf(model), { store, token: TOKEN });
      const answered = await post(at(server.address), "/v1/chat/completions", { messages: said });
      conversations.add(answered.headers.get("x-banyan-conversation"));
      const { choices } = (await answered.json()) as { choices: [{ message: object }] };
      return choices[0].message;
    };
    messages.push(await ask(messages));
    messages.push({ role: "user", content: "And its leaves?" });
    // Asked again: a sibling of the message.
    await ask(messages);
    await ask(messages);
    // The second message is edited: the branch forks within the history.
    await ask([...HISTORY.slice(0, 5), { role: "user", content: "Really?" }]);
    expect([...conversations]).toHaveLength(1);
    const session = await opened(store, [...conversations][0] ?? null);
    const { state } = session;
    const branches = [...state.messages.values()].filter(({ id }) => (state.children.get(id) ?? []).length === 0);
    const textsTo = (leaf: Message) => pathTo(state, leaf.id).map(textOf).filter(Boolean);
    expect(branches.map((leaf) => textsTo(leaf).slice(-4))).toEqual([
      ["How old?", "Answer 0.", "And its leaves?", "Answer 1."],
      ["How old?", "Answer 0.", "And its leaves?", "Answer 2."],
      ["I look.", "An oak.", "Really?", "Answer 3."],
    ]);
    expect(textsTo(branches[0] as Message)).toHaveLength(9);
  });

  test("W89: a named chat gets only its missing messages, below its last known message", async () => {
    const model = scriptedModel((_, index) => `Answer ${index}.`);
    const { fetch, store, close } = site(model);
    const ask = async (messages: readonly object[]) => {
      const answered = await post(fetch, "/v1/chat/completions", { messages }, { "x-banyan-chat": "a" });
      expect(answered.status).toBe(200);
      return answered.headers.get("x-banyan-conversation");
    };
    const hello = { role: "user", content: "Hello." };
    const conversation = await ask([hello]);
    // The program has a second turn from elsewhere.
    const more = [hello, { role: "assistant", content: "Answer 0." }, ...HISTORY, NEXT];
    expect(await ask(more)).toBe(conversation);
    await ask([{ role: "user", content: "Other." }, { role: "assistant", content: "Other answer." }, NEXT]);
    await close();
    const { state } = await opened(store, conversation);
    const roots = (state.children.get(null) ?? []).map((id) => textOf(state.messages.get(id) as Message));
    expect(roots).toEqual(["Hello.", "Other."]);
    expect(state.messages.size).toBe(2 + HISTORY.length - 2 + 2 + 4);
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 2 + HISTORY.length - 2 + 1, 3]);
  });

  test("S10: a host removes secrets from earlier messages, and recognises the history all the same", async () => {
    const model = scriptedModel((_, index) => `Answer ${index}.`);
    const { server } = await serving({ model });
    const messages: object[] = [
      { role: "user", content: "My key is sk-abc." },
      { role: "assistant", content: "You said sk-abc.", tool_calls: [call("a", '{"key":"sk-abc"}')] },
      { role: "tool", tool_call_id: "a", content: "sk-abc works" },
      { role: "user", content: "Thanks." },
    ];
    const ask = async () => {
      const answered = await post(at(server.address), "/v1/chat/completions", { model: "banyan", messages });
      const { choices } = (await answered.json()) as { choices: [{ message: object }] };
      messages.push(choices[0].message, { role: "user", content: "More." });
      return answered.headers.get("x-banyan-conversation");
    };
    const first = await ask();
    expect(await ask()).toBe(first);
    expect(JSON.stringify(model.requests)).not.toContain("sk-abc");
  });

  test.each([
    ["a result without its call", [{ role: "tool", tool_call_id: "x", content: "?" }, NEXT], "x"],
    ["a last message without content", [...HISTORY, { role: "user", content: "" }], "The last message is empty."],
  ])("L11: %s is refused, and no turn begins", async (_, messages, words) => {
    const model = scriptedModel([]);
    const { fetch } = site(model);
    const answered = await post(fetch, "/v1/chat/completions", { messages });
    expect([answered.status, await answered.text()]).toEqual([400, expect.stringContaining(words)]);
    expect(model.asked).toBe(0);
  });
});
