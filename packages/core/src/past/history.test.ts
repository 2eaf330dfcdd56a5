import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { ConversationState } from "../conversation/state.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import { SlowStore } from "../session/session.fixture.ts";
import { Session } from "../session/session.ts";
import { call, scriptedModel } from "../testing/index.ts";

const png = "iVBORw0KGgo=";
const input = { zone: "UTC" };
const inputText = JSON.stringify(input);

/** One conversation in each form. */
const forms: Readonly<Record<string, readonly object[]>> = {
  "chat completions of OpenAI": [
    {
      role: "user",
      content: [
        { type: "text", text: "What time is it?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
      ],
    },
    {
      role: "assistant",
      content: null,
      reasoning_content: "The clock knows.",
      tool_calls: [{ id: "c1", type: "function", function: { name: "clock", arguments: inputText } }],
    },
    { role: "tool", tool_call_id: "c1", content: "12:30" },
    { role: "assistant", content: "Half past twelve.", refusal: null },
    { role: "user", content: "Thanks" },
  ],
  "responses of OpenAI": [
    {
      role: "user",
      content: [
        { type: "input_text", text: "What time is it?" },
        { type: "input_image", image_url: `data:image/png;base64,${png}`, detail: "auto" },
      ],
    },
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "The clock knows." }] },
    { type: "function_call", id: "fc_1", call_id: "c1", name: "clock", arguments: inputText, status: "completed" },
    { type: "function_call_output", call_id: "c1", output: "12:30" },
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Half past twelve.", annotations: [] }],
    },
    { role: "user", content: "Thanks" },
  ],
  "messages of Anthropic": [
    {
      role: "user",
      content: [
        { type: "text", text: "What time is it?" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "The clock knows.", signature: "s" },
        { type: "tool_use", id: "c1", name: "clock", input },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "12:30" }] }] },
    { role: "assistant", content: [{ type: "text", text: "Half past twelve.", citations: null }] },
    { role: "user", content: [{ type: "text", text: "Thanks", cache_control: { type: "ephemeral" } }] },
  ],
  "model messages of the AI SDK": [
    {
      role: "user",
      content: [
        { type: "text", text: "What time is it?" },
        { type: "file", data: png, mediaType: "image/png" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "The clock knows." },
        { type: "tool-call", toolCallId: "c1", toolName: "clock", input },
      ],
    },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "c1", toolName: "clock", output: { type: "text", value: "12:30" } }],
    },
    { role: "assistant", content: "Half past twelve." },
    { role: "user", content: "Thanks" },
  ],
  "UI messages of the AI SDK": [
    {
      id: "1",
      role: "user",
      parts: [
        { type: "text", text: "What time is it?" },
        { type: "file", url: `data:image/png;base64,${png}`, mediaType: "image/png" },
      ],
    },
    {
      id: "2",
      role: "assistant",
      metadata: { model: "m" },
      parts: [
        { type: "step-start" },
        { type: "reasoning", text: "The clock knows.", state: "done" },
        { type: "tool-clock", toolCallId: "c1", state: "output-available", input, output: "12:30" },
        { type: "step-start" },
        { type: "data-status", data: {} },
        { type: "text", text: "Half past twelve.", state: "done" },
      ],
    },
    { id: "3", role: "user", parts: [{ type: "text", text: "Thanks" }] },
  ],
};

/** The words, calls and results of the branch. */
function branchOf(state: ConversationState) {
  return pathTo(state, state.leaf ?? "").map((message) => [
    message.role,
    ...message.parts.map((part) => ("text" in part ? `${part.type}: ${part.text}` : part.type)),
    ...(message.role === "assistant" ? message.calls : []).map(({ id, tool, input, status, output }) => {
      return { id, tool, input, status, output };
    }),
  ]);
}

test.each(Object.entries(forms))(
  "L5: %s become a conversation that survives a restart and continues",
  async (_, messages) => {
    const store = new SlowStore();
    const first = await Session.open(store);
    expect(await first.addHistory(messages)).toBe(first.state.leaf);
    const conversation = [
      ["user", "text: What time is it?", "file"],
      [
        "assistant",
        "reasoning: The clock knows.",
        "call",
        { id: "c1", tool: "clock", input, status: "completed", output: "12:30" },
      ],
      ["assistant", "text: Half past twelve."],
      ["user", "text: Thanks"],
    ];
    expect(branchOf(first.state)).toEqual(conversation);
    await first.close();

    const second = await Session.open(store, first.id);
    expect(second.interrupted).toEqual([]);
    expect(branchOf(second.state)).toEqual(conversation);
    const model = scriptedModel(["You are welcome."]);
    await new Agent({ model }).send("Bye.", { session: second });
    expect(JSON.stringify(model.requests[0]?.messages)).toMatch(
      /What time is it.*iVBORw0KGgo=.*clock.*12:30.*Half past.*Thanks.*Bye/s,
    );
    expect(branchOf(second.state)).toEqual([
      ...conversation,
      ["user", "text: Bye."],
      ["assistant", "text: You are welcome."],
    ]);
    await second.close();
  },
);

const calls = {
  role: "assistant",
  tool_calls: [{ id: "a", type: "function", function: { name: "look", arguments: "{" } }],
};

test("L5: odd histories are mended: calls without results, repeated ids, arguments that are not JSON", async () => {
  const session = Session.inMemory();
  await session.addHistory([
    { role: "user", content: "Look." },
    calls,
    { role: "tool", tool_call_id: "a", content: "seen" },
    { ...calls, content: "Again." },
    { role: "assistant", content: "" },
    { role: "user", content: [{ type: "text", text: "And?" }] },
  ]);
  const [, one, two] = pathTo(session.state, session.state.leaf ?? "");
  expect(one).toMatchObject({ calls: [{ id: "a", inputText: "{", status: "completed", output: "seen" }] });
  expect(two).toMatchObject({
    calls: [{ inputText: "{", status: "cancelled", output: expect.stringMatching("no result") }],
  });
  expect(two).not.toMatchObject({ calls: [{ id: "a" }] });
  expect((await new Agent({ model: scriptedModel(["ok"]) }).send("Go on.", { session })).text).toBe("ok");
});

test("L5: the result of a call keeps its images, its failure and its denial", async () => {
  const session = Session.inMemory();
  const use = (id: string) => ({ type: "tool_use", id, name: "look", input: {} });
  await session.addHistory([
    { role: "assistant", content: [use("a"), use("b")] },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "a",
          content: [
            { type: "text", text: "A tree" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
          ],
        },
        { type: "tool_result", tool_use_id: "b", content: "no light", is_error: true },
      ],
    },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "look", input: {} }] },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: "c", toolName: "look", output: { type: "execution-denied", reason: "No." } },
      ],
    },
  ]);
  const made = pathTo(session.state, session.state.leaf ?? "").flatMap((m) => (m.role === "assistant" ? m.calls : []));
  expect(made).toMatchObject([
    { id: "a", status: "completed", output: "A tree", files: [{ mediaType: "image/png", data: png }] },
    { id: "b", status: "failed", output: "no light" },
    { id: "c", status: "denied", output: "No." },
  ]);
});

test("L5: arguments that are nested too deeply become text, and the session continues", async () => {
  const store = new SlowStore();
  const session = await Session.open(store);
  const text = "[".repeat(5_000) + "]".repeat(5_000);
  const deep = { id: "a", type: "function", function: { name: "look", arguments: text } };
  await session.addHistory([
    { role: "assistant", tool_calls: [deep] },
    { role: "tool", tool_call_id: "a", content: "seen" },
  ]);
  expect((await new Agent({ model: scriptedModel(["ok"]) }).send("Go on.", { session })).text).toBe("ok");
  await session.close();
  const again = await Session.open(store, session.id);
  const [response] = pathTo(again.state, again.state.leaf);
  expect(response).toMatchObject({ calls: [{ inputText: text, status: "completed", output: "seen" }] });
  expect(response).not.toHaveProperty("calls.0.input");
  await again.close();
});

const listing = [{ type: "file", name: "a.txt" }];
const uiPart = (type: string, output: unknown, input: object = {}) => [
  { role: "assistant", parts: [{ type, toolCallId: "a", state: "output-available", input, output }] },
];
const jsonResult = (value: unknown) => [
  { role: "assistant", content: [{ type: "tool-call", toolCallId: "a", toolName: "look", input: {} }] },
  { role: "tool", content: [{ type: "tool-result", toolCallId: "a", output: { type: "json", value } }] },
];

test.each([
  ["a UI part of the tool call", uiPart("tool-call", "x"), { tool: "call", output: "x" }],
  ["a UI part of the tool result", uiPart("tool-result", "x"), { tool: "result", output: "x" }],
  ["a folder", uiPart("tool-look", listing), { output: JSON.stringify(listing) }],
  ["JSON with the form of a file", jsonResult(listing), { output: JSON.stringify(listing) }],
  ["JSON with the form of a denial", uiPart("tool-look", { type: "execution-denied" }), { status: "completed" }],
  ["JSON with the form of a text", uiPart("tool-look", { type: "text", value: "x" }), { output: /"value":"x"/ }],
  ["values without JSON", uiPart("tool-look", { a: undefined, b: [1] }, { c: undefined }), { output: '{"b":[1]}' }],
])(
  "L5: %s is imported as the tool returned it",
  async (_, messages, { output, ...wanted }: Record<string, unknown>) => {
    const session = Session.inMemory();
    await session.addHistory(messages);
    const [message] = pathTo(session.state, session.state.leaf);
    const shown = output instanceof RegExp ? expect.stringMatching(output) : output;
    expect(message).toMatchObject({
      calls: [{ status: "completed", ...wanted, ...(shown !== undefined && { output: shown }) }],
    });
  },
);

test.each<[unknown, string]>([
  ["text", "A history must be an array of messages, not a string."],
  [["Hi"], "messages[1] must be a message with a role, not a string."],
  [[{ content: "Hi" }], "messages[1] has no role; a message needs role and content."],
  [[{ role: "asistant", content: "" }], 'messages[1].role is "asistant"; did you mean assistant?'],
  [
    [{ role: "system", content: "Be kind." }],
    "messages[1] is a system message; leave it out, and pass its text as instructions of the agent.",
  ],
  [
    [{ type: "web_search_call" }],
    'messages[1].type is "web_search_call", which a session cannot keep; leave the item out.',
  ],
  [
    [{ role: "assistant", content: [{ type: "server_tool_use" }] }],
    'messages[1].content[0].type is "server_tool_use", which a session cannot keep; leave the part out.',
  ],
  [
    [{ role: "tool", tool_call_id: "x", content: "seen" }],
    'messages[1] is the result of the call "x", but no message before has this call.',
  ],
  [
    [{ role: "user", content: [{ type: "audio" }] }],
    'messages[1]: content[0].type is "audio"; a user message holds parts of type "text" and "file".',
  ],
  [[{ role: "user", content: " " }], "messages[1] has neither text nor a file; leave it out."],
  [
    [{ role: "assistant", content: null, function_call: { name: "look", arguments: "{}" } }],
    "messages[1].function_call is an older form of a call; pass it in tool_calls, with an id.",
  ],
  [
    [{ role: "assistant", content: [{ type: "tool_use", id: "a", name: "look", input: { at: Number.NaN } }] }],
    "messages[1].content[0].input has a value that JSON cannot represent, or more than 100 levels.",
  ],
])("L5: %j is refused with its place, and nothing is written", async (rest, sentence) => {
  const store = new SlowStore();
  const session = await Session.open(store);
  const messages = Array.isArray(rest) ? [{ role: "user", content: "Hi" }, ...rest] : rest;
  await expect(session.addHistory(messages as object[])).rejects.toMatchObject({
    name: "DirectiveError",
    message: sentence,
  });
  expect([session.state.messages.size, store.events]).toEqual([0, []]);
  await expect(session.addHistory([], { at: "none" })).rejects.toMatchObject({ code: "no-message" });
});

test("L5: a history is refused at the end of a branch where a turn works", async () => {
  const session = Session.inMemory();
  const look = defineTool({
    name: "look",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: () => session.addHistory([{ role: "user", content: "Hi" }]).then(String, ({ code }) => code),
  });
  const agent = new Agent({ model: scriptedModel([[call("look")], "Done."]), tools: [look] });
  await agent.send("Look.", { session });
  const made = [...session.state.messages.values()].flatMap((m) => (m.role === "assistant" ? m.calls : []));
  expect(made).toMatchObject([{ output: "busy" }]);
  expect(session.state.messages.size).toBe(3);
});
