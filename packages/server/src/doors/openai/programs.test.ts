import { defineTool } from "@banyan/core";
import { finishTask, type ScriptedModel, scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { type Served, served, TOKEN } from "../../testing/served.fixture.ts";
import { serving, temporaryDirectory } from "../../testing/serving.fixture.ts";
import { NAMED_PROGRAMS, PROGRAMS, type Program, ProgramChat, type ProgramRequest, send } from "./programs.fixture.ts";

const PIXEL = `data:image/png;base64,${"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}`;

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: z.object({}),
  effects: "none",
  execute: () => "seen",
});

/** A model with a different answer per request, with trailing whitespace, and sometimes only symbols. */
const talkative = () =>
  scriptedModel((_request, index) =>
    index % 7 === 6 ? "👍\n" : `Answer number ${index} is **yes**.\n\n- It has a list.  \n\n`,
  );

/** The first turns are enough for a chat that a header names. */
const TURNS = new Map(process.env.BANYAN_LONG === "1" ? [] : NAMED_PROGRAMS.map((program) => [program, 9]));

/** A user's actions in a chat: an image, regenerated and edited messages, all kinds of whitespace. */
function* actions(chat: ProgramChat, turns: number): Generator<ProgramRequest> {
  for (let turn = 0; turn < turns; turn++) {
    yield chat.say(`Question ${turn}:\r\n\twhat about oak ${turn}?  \n`, turn === 2 ? PIXEL : undefined);
    if (turn === 4 || turn === 11) yield chat.regenerate();
    if (turn === 7) yield chat.edit(6, "In other words: what about elms?");
    if (turn === 15) yield chat.regenerate();
  }
}

/** Plays a chat and runs `between` between two requests. Returns the conversations of the answers, and the side requests. */
async function play(
  program: Program,
  site: () => Served,
  model: ScriptedModel,
  between: (request: number) => Promise<void>,
) {
  const chat = new ProgramChat(program, "a-chat");
  const conversations: (string | null)[] = [];
  const sides: { readonly tools: number; readonly messages: number }[] = [];
  let count = 0;
  for (const request of actions(chat, TURNS.get(program) ?? 20)) {
    await between(count++);
    const { text, conversation } = await send(site().server.address, request);
    conversations.push(conversation);
    chat.answered(text);
    for (const side of chat.side()) {
      const answered = await send(site().server.address, side);
      expect(answered.conversation, side.name).toBeNull();
      const asked = model.requests.at(-1);
      sides.push({ tools: asked?.tools.length ?? -1, messages: asked?.messages.length ?? -1 });
    }
  }
  return { conversations: new Set(conversations), sides };
}

test.each([...PROGRAMS, ...NAMED_PROGRAMS])(
  "W89: the turns of $name are one conversation, 20 of them without a header, with pictures, edited and regenerated messages and a restart, and side requests leave nothing",
  async (program) => {
    const model = talkative();
    const options = { model, tools: [look] };
    const directory = temporaryDirectory();
    let site = await served(options, { directory });
    try {
      const { conversations, sides } = await play(
        program,
        () => site,
        model,
        async (request) => {
          if (request !== 9) return;
          await site[Symbol.asyncDispose]();
          site = await served(options, { directory });
        },
      );
      expect(conversations.size).toBe(1);
      expect((await site.store.list()).map(({ id }) => id)).toEqual([...conversations]);
      expect(sides.length).toBeGreaterThan(0);
      expect(sides.filter(({ tools, messages }) => tools !== 0 || messages !== 1)).toEqual([]);
    } finally {
      await site[Symbol.asyncDispose]();
    }
  },
);

test.each(NAMED_PROGRAMS)(
  "W89: with $name, the first message that is asked again or edited is a branch too",
  async (program) => {
    const site = await serving({ model: talkative() });
    const chat = new ProgramChat(program, "a-chat");
    const requests = [
      () => chat.say("Hello."),
      () => chat.regenerate(),
      () => chat.edit(0, "Good day."),
      () => chat.say("And now?"),
    ];
    for (const request of requests) chat.answered((await send(site.server.address, request())).text);
    const other = await send(site.server.address, new ProgramChat(program, "another-chat").say("Hello."));
    const listed = await site.store.list();
    expect(listed).toHaveLength(2);
    expect(listed.map(({ id }) => id)).toContain(other.conversation);
  },
);

test("W89: words that a user types make no side request of a message", async () => {
  const model = talkative();
  const site = await serving({ model, tools: [look] });
  const [program] = PROGRAMS;
  if (!program) throw new Error("There is no program.");
  const chat = new ProgramChat(program, "a-chat");
  chat.answered((await send(site.server.address, chat.say("What tree is this?"))).text);
  const [title] = chat.side();
  const words = String(title?.body.messages[0]?.content);
  // The same text as a user's message of a new chat, and as one that quotes no answer of this server.
  const typed = await send(site.server.address, new ProgramChat(program, "b").say(words));
  const foreign = words.replace("Answer number", "Some other");
  const alone = {
    headers: {},
    body: { model: "banyan", stream: false, messages: [{ role: "user" as const, content: foreign }] },
  };
  const asked = await send(site.server.address, alone);
  expect([typed.conversation, asked.conversation]).toEqual([expect.any(String), expect.any(String)]);
  expect(model.requests.slice(-2).map(({ tools }) => tools.length)).toEqual([1, 1]);
});

test.each([
  ["the header of its task", { "x-openwebui-task": "emoji_generation" }, {}],
  ["its metadata", {}, { metadata: { task: "query_generation", chat_id: "1" } }],
])("W89: a request with its purpose in %s runs without tools and is not stored", async (_how, headers, more) => {
  const model = talkative();
  const site = await serving({ model, tools: [look] });
  const messages = [
    { role: "system" as const, content: "One sign." },
    { role: "user" as const, content: "Hello." },
  ];
  for (const stream of [false, true]) {
    const { text, conversation } = await send(site.server.address, {
      headers,
      body: { model: "banyan", stream, messages, ...more },
    });
    expect([text.startsWith("Answer"), conversation]).toEqual([true, null]);
  }
  expect(model.requests.map(({ tools, instructions }) => [tools.length, instructions])).toEqual([
    [0, "One sign."],
    [0, "One sign."],
  ]);
  expect(await site.store.list()).toEqual([]);
});

test("W89: conversations of programs are left out of lists, and a filter shows them", async () => {
  const site = await serving({ model: talkative() });
  const [program] = PROGRAMS;
  if (!program) throw new Error("There is no program.");
  const { conversation } = await send(site.server.address, new ProgramChat(program, "a").say("Hello."));
  const list = async (query: string) => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const { conversations } = (await (
      await fetch(`${site.server.address}/api/v1/conversations${query}`, { headers })
    ).json()) as {
      conversations: { id: string; labels: Record<string, string> }[];
    };
    return conversations.map(({ id, labels }) => [id, labels.program]);
  };
  expect([await list(""), await list("?programs=true")]).toEqual([[], [[conversation, "streamed"]]]);
});

test("W89: a search finds messages of programs only if the filter asks for them, however many there are", async () => {
  const site = await serving({ model: talkative() });
  const [program] = PROGRAMS;
  if (!program) throw new Error("There is no program.");
  const session = await site.host.newSession();
  await session.add("Where is the needle?");
  // Newer messages than the user's, and more than a search returns.
  const chats = Array.from({ length: 25 }, (_, index) => new ProgramChat(program, `chat ${index}`));
  for (const chat of chats) await send(site.server.address, chat.say("A needle."));
  const found = async (query: string) => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const response = await fetch(`${site.server.address}/api/v1/conversations?query=needle${query}`, { headers });
    const { hits } = (await response.json()) as { hits: { conversation: string }[] };
    return hits.map(({ conversation }) => conversation);
  };
  expect(await found("")).toEqual([session.id]);
  expect(await found("&programs=true")).toHaveLength(20);
});

/** Posts a request for a short answer to `/v1`. */
async function post(address: string, path: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${address}/v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "banyan", ...body }),
  });
  const text = await response.text();
  return { status: response.status, text, conversation: response.headers.get("x-banyan-conversation") };
}

const HI = { messages: [{ role: "user", content: "Hi." }] };
const TITLE = {
  type: "function",
  function: {
    name: "set_title",
    description: "Sets the title of the chat.",
    parameters: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
  },
};
const FORCED = { tools: [TITLE], tool_choice: { type: "function", function: { name: "set_title" } } };
const SCHEMA = {
  response_format: { type: "json_schema", json_schema: { name: "set_title", schema: TITLE.function.parameters } },
};

test.each([
  ["response_format.type", { response_format: { type: "xml" } }, 'the type "text", "json_object" or "json_schema"'],
  ["tool_choice", { tool_choice: "any" }, 'expected "auto", "none", "required" or a function'],
  ["tool_choice", { tool_choice: "required" }, '"required" needs exactly one function in tools.'],
  ["tool_choice", { ...FORCED, tools: [] }, 'tool_choice: tools has no function "set_title".'],
  [
    "json_schema",
    { response_format: { type: "json_schema", json_schema: { schema: { properties: { a: { pattern: "(" } } } } } },
    "/(/",
  ],
])("W89: a wrong %s is refused with 400 and the reason", async (_name, more, message) => {
  const site = await serving({ model: talkative() });
  const { status, text } = await post(site.server.address, "chat/completions", { ...HI, ...more });
  const { error } = JSON.parse(text);
  expect({ status, type: error.type }).toEqual({ status: 400, type: "invalid_request_error" });
  expect(error.message).toContain(message);
});

test("W89: a form is refused with 400 in a conversation, and for a response", async () => {
  const site = await serving({ model: talkative() });
  const { conversation } = await post(site.server.address, "chat/completions", HI);
  const named = { "x-banyan-conversation": conversation ?? "" };
  const refused = await post(site.server.address, "chat/completions", { ...HI, ...FORCED }, named);
  expect({ status: refused.status, error: JSON.parse(refused.text).error.message }).toEqual({
    status: 400,
    error:
      "tool_choice and response_format: an answer in a conversation has no forced form; leave out the header x-banyan-conversation.",
  });
  for (const more of [{ tool_choice: "required" }, { text: { format: { type: "json_object" } } }])
    expect((await post(site.server.address, "responses", { input: "Hi.", ...more })).status).toBe(400);
  const kept = { tool_choice: "auto", response_format: { type: "text" } };
  expect((await post(site.server.address, "chat/completions", { ...HI, ...kept })).status).toBe(200);
});

test.each([
  ["a forced function", FORCED, "stop"],
  ["a required function", { ...FORCED, tool_choice: "required" }, "tool_calls"],
  ["a JSON schema", SCHEMA, "stop"],
  ["a JSON object", { response_format: { type: "json_object" } }, "stop"],
])(
  "W89, K29: an answer with %s is the model's, fits the schema, uses no tool of the agent and is not stored",
  async (_what, more, end) => {
    // A result that does not fit is refused first, where there is a schema.
    const isObject = "response_format" in more && more.response_format.type === "json_object";
    const model = scriptedModel((_request, index) =>
      index % 3 === 0 ? "Trees." : [finishTask(index % 3 === 1 && !isObject ? { titel: "Trees" } : { title: "Trees" })],
    );
    const site = await serving({ model, tools: [look] });
    const messages = [
      { role: "system", content: "Be short." },
      { role: "user", content: "What is an oak?" },
      { role: "assistant", content: "A tree." },
      { role: "user", content: "Write a title." },
    ];
    for (const stream of [false, true]) {
      const { status, text, conversation } = await post(site.server.address, "chat/completions", {
        messages,
        stream,
        ...more,
      });
      expect({ status, conversation }, text).toEqual({ status: 200, conversation: null });
      const choices = stream
        ? text.split("\n").flatMap((line) => (line.startsWith("data: {") ? JSON.parse(line.slice(6)).choices : []))
        : JSON.parse(text).choices;
      const said = choices.map((each: Record<"delta" | "message", object>) => each.delta ?? each.message);
      const calls = said.flatMap((each: { tool_calls?: { function: object }[] }) => each.tool_calls ?? []);
      const content = said.map((each: { content?: string }) => each.content ?? "").join("");
      const json = JSON.stringify({ title: "Trees" });
      if ("tools" in more) {
        expect(calls).toMatchObject([{ type: "function", function: { name: "set_title", arguments: json } }]);
        expect(content).toBe("");
      } else expect({ calls, content }).toEqual({ calls: [], content: json });
      expect(choices.at(-1).finish_reason).toBe(end);
    }
    const [first] = model.requests;
    expect(first?.instructions).toContain("Be short.\n\nThe result is ");
    expect(first?.tools.map(({ name }) => name)).not.toContain("look");
    expect(await site.store.list()).toEqual([]);
  },
);

test("W89: a schema may refer to its own definitions", async () => {
  const site = await serving({ model: scriptedModel(() => [finishTask({ title: "Trees" })]) });
  const schema = {
    type: "object",
    required: ["title"],
    properties: { title: { $ref: "#/$defs/text" } },
    $defs: { text: { type: "string" } },
  };
  const response_format = { type: "json_schema", json_schema: { name: "title", schema } };
  const { status, text } = await post(site.server.address, "chat/completions", { ...HI, response_format });
  expect(status, text).toBe(200);
});

test("W89: a model that gives no answer of the form is an error with the reason", async () => {
  const site = await serving({ model: scriptedModel(() => [finishTask({ titel: "Trees" })]) });
  const { status, text } = await post(site.server.address, "chat/completions", { ...HI, ...FORCED });
  expect(status).toBe(500);
  expect(JSON.parse(text).error.message).toMatch(/^The result does not match the requested schema\. .*title/s);
});

test("W89: /v1/models lists the agent, its model and the models of the server's providers", async () => {
  const model = talkative();
  const site = await serving({ model }, { models: { "scripted/other": scriptedModel(["Other."]) } });
  const response = await fetch(`${site.server.address}/v1/models`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const { data } = (await response.json()) as { data: { id: string }[] };
  expect(data.map(({ id }) => id)).toEqual(["banyan", "scripted/model", "scripted/other"]);
  const messages = [{ role: "user" as const, content: "Hi." }];
  const { text } = await send(site.server.address, {
    headers: {},
    body: { model: "scripted/other", stream: false, messages },
  });
  expect(text).toBe("Other.");
});

test("W89: /v1/models/NAME describes a model, and an unknown one is 404 in OpenAI's form", async () => {
  const site = await serving({ model: talkative() }, { models: { "scripted/other": scriptedModel(["Other."]) } });
  const get = async (name: string, token = TOKEN) => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${site.server.address}/v1/models/${name}`, { headers });
    return { status: response.status, ...((await response.json()) as object) };
  };
  for (const name of ["banyan", "scripted/model", "scripted/other", "scripted%2Fother"])
    expect(await get(name)).toEqual({
      status: 200,
      id: decodeURIComponent(name),
      object: "model",
      created: expect.any(Number),
      owned_by: "banyan",
    });
  for (const name of ["gpt-unknown", "scripted/none", "banyan/x"])
    expect(await get(name)).toEqual({
      status: 404,
      error: {
        message: `There is no model "${name}". GET /v1/models lists the models.`,
        type: "invalid_request_error",
        code: "model_not_found",
        param: "model",
      },
    });
  expect(await get("banyan", "wrong")).toMatchObject({ status: 401, error: { type: "invalid_request_error" } });
});
