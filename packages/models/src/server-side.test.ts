import { Agent, pathTo, Session } from "@banyan/core";
import { describe, expect, test } from "vitest";
import type { ModelOverrides } from "./provider/catalogue.ts";
import { resolveModel } from "./resolve.ts";
import { look } from "./testing/scenarios/tools.ts";
import { bodyOf, eventOf, serve } from "./testing/server.ts";

/** A server that sends one of these streams per request, and records request bodies. */
async function streaming(...streams: readonly string[]) {
  const bodies: Record<string, unknown>[] = [];
  const server = await serve(async (request, response) => {
    bodies.push(JSON.parse(await bodyOf(request)));
    response.writeHead(200, { "content-type": "text/event-stream" }).end(streams[bodies.length - 1]);
  });
  return {
    address: server.baseURL.replace(/\/v1$/, ""),
    bodies,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const named = (type: string, data: object) => `event: ${type}\n${eventOf({ type, ...data })}`;

/** An answer of Anthropic with these whole blocks. */
function anthropicAnswer(stop: object, ...blocks: readonly Record<string, unknown>[]): string {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const content = blocks.map((block, index) => {
    const { text, input, ...rest } = block;
    const start = {
      ...rest,
      ...(text === undefined ? {} : { text: "" }),
      ...(input === undefined ? {} : { input: {} }),
    };
    const deltas = [
      ...(text === undefined ? [] : [{ type: "text_delta", text }]),
      ...(input === undefined ? [] : [{ type: "input_json_delta", partial_json: JSON.stringify(input) }]),
    ];
    return [
      named("content_block_start", { index, content_block: start }),
      ...deltas.map((delta) => named("content_block_delta", { index, delta })),
      named("content_block_stop", { index }),
    ].join("");
  });
  return [
    named("message_start", { message: { id: "m", model: "claude", content: [], usage } }),
    ...content,
    named("message_delta", { delta: stop, usage: { output_tokens: 2 } }),
    named("message_stop", {}),
  ].join("");
}

const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "figs" } };
const hit = {
  type: "web_search_result",
  url: "https://figs.example/",
  title: "Figs",
  encrypted_content: "eHg=",
  page_age: null,
};
const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [hit] };
const text = (said: string) => ({ type: "text", text: said });

const serverTools = [{ id: "anthropic.web_search_20250305", name: "web_search", args: { maxUses: 2 } }] as const;
const end = { stop_reason: "end_turn" };

async function anthropic(address: string) {
  const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: address };
  return new Agent({ model: await resolveModel("anthropic/claude-sonnet-4-5", { env }), settings: { serverTools } });
}

interface AnthropicBody {
  readonly tools: unknown;
  readonly messages: readonly { readonly role: string; readonly content: readonly object[] }[];
}

/** Only the answers in a request. */
const answersIn = (body: unknown) =>
  (body as AnthropicBody).messages.filter(({ role }) => role === "assistant").map(({ content }) => content);

describe("tools that Anthropic runs", () => {
  test("are offered, run there and never here, and go back with their results as they came", async () => {
    await using server = await streaming(
      anthropicAnswer(end, text("Let me see."), search, found, text("Figs!")),
      anthropicAnswer(end, text("Any time.")),
    );
    const agent = await anthropic(server.address);
    const session = Session.inMemory();
    const first = await agent.send("What grows?", { session });
    expect(first).toMatchObject({ reason: "answered", text: "Let me see.Figs!", steps: 1, message: { calls: [] } });
    expect(first.message?.parts.map((part) => ("text" in part ? part.text : part.type))).toEqual([
      "Let me see.",
      'web_search {"query":"figs"}',
      "web_search answered",
      "Figs!",
      "source",
    ]);
    await agent.send("Thanks", { session });
    const [asked, again] = server.bodies;
    expect(asked?.tools).toMatchObject([{ type: "web_search_20250305", name: "web_search", max_uses: 2 }]);
    expect(answersIn(again)).toEqual([
      [text("Let me see."), expect.objectContaining(search), expect.objectContaining(found), text("Figs!")],
    ]);
  });

  test("that take long pause the turn: the model gets its own partial answer, and nothing else", async () => {
    await using server = await streaming(
      anthropicAnswer({ stop_reason: "pause_turn" }, text("Searching."), search),
      anthropicAnswer(end, found, text("Figs!")),
      anthropicAnswer(end, text("Any time.")),
    );
    const agent = await anthropic(server.address);
    const session = Session.inMemory();
    const turn = await agent.send("What grows?", { session });
    expect(turn).toMatchObject({ reason: "answered", text: "Figs!", steps: 2 });
    await agent.send("Thanks", { session });

    const [, resumed, next] = server.bodies as unknown as AnthropicBody[];
    expect(resumed?.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(answersIn(resumed)).toEqual([[text("Searching."), expect.objectContaining(search)]]);
    // For Anthropic, both halves are one answer.
    expect(answersIn(next)).toEqual([
      [text("Searching."), expect.objectContaining(search), expect.objectContaining(found), text("Figs!")],
    ]);
  });

  test("that were interrupted by another message disappear: they have no results", async () => {
    await using server = await streaming(
      anthropicAnswer({ stop_reason: "pause_turn" }, text("Searching."), search),
      anthropicAnswer(end, text("Without it, then.")),
    );
    const agent = (await anthropic(server.address)).with({ limits: { steps: 1 } });
    const turn = await agent.send("What grows?");
    expect(turn).toMatchObject({ reason: "limit", text: "Without it, then." });
    expect(answersIn(server.bodies[1])).toEqual([[text("Searching.")]]);
  });
});

test("a refusal of Anthropic's is kept as filtered, with its explanation", async () => {
  const stop = {
    stop_reason: "refusal",
    stop_details: { type: "refusal", category: "cyber", explanation: "Not that." },
  };
  await using server = await streaming(anthropicAnswer(stop, text("I")));
  const turn = await (await anthropic(server.address)).send("Break in");
  expect(turn).toMatchObject({ reason: "answered", text: "I", message: { finish: "filtered", error: "Not that." } });
});

const google = async (address: string, driver?: "package") => {
  const env = { GOOGLE_GENERATIVE_AI_API_KEY: "k", GOOGLE_GENERATIVE_AI_BASE_URL: address };
  const name = "google/gemini-3.5-flash";
  const overrides: ModelOverrides = driver ? { [name]: { driver } } : {};
  return new Agent({ model: await resolveModel(name, { env, overrides }), tools: [look] });
};

/** An answer of Google with one event per list of parts. */
function googleAnswer(finishReason: string, ...events: readonly (readonly object[])[]): string {
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 };
  const pieces = events.map((parts) => eventOf({ candidates: [{ content: { role: "model", parts } }] }));
  return pieces.join("") + eventOf({ candidates: [{ content: { parts: [] }, finishReason }], usageMetadata });
}

describe.each([undefined, "package" as const])("Google's thought signatures, through %s", (driver) => {
  test("go back with the thoughts, the texts and the calls that they came with", async () => {
    await using server = await streaming(
      googleAnswer(
        "STOP",
        [{ text: "I should look.", thought: true, thoughtSignature: "dGhvdWdodA==" }],
        [{ functionCall: { name: "look", args: { at: "a" } }, thoughtSignature: "Y2FsbA==" }],
        [{ functionCall: { name: "look", args: { at: "b" } } }],
      ),
      googleAnswer("STOP", [{ text: "Both seen." }], [{ text: "", thoughtSignature: "dGV4dA==" }]),
      googleAnswer("STOP", [{ text: "Any time." }]),
    );
    const agent = await google(server.address, driver);
    const session = Session.inMemory();
    expect((await agent.send("Look at both", { session })).text).toBe("Both seen.");
    await agent.send("Thanks", { session });
    const contents = (server.bodies[2] as { contents: { role: string; parts: object[] }[] }).contents;
    const [called, answered] = contents.filter(({ role }) => role === "model").map(({ parts }) => parts);
    expect(called).toMatchObject([
      { text: "I should look.", thought: true, thoughtSignature: "dGhvdWdodA==" },
      { functionCall: { name: "look", args: { at: "a" } }, thoughtSignature: "Y2FsbA==" },
      { functionCall: { name: "look", args: { at: "b" } } },
    ]);
    expect(called?.[2]).not.toHaveProperty("thoughtSignature");
    expect(JSON.stringify(answered)).toContain("dGV4dA==");
    expect(JSON.stringify(answered)).toContain("Both seen.");
  });

  test("survive the log unchanged", async () => {
    await using server = await streaming(
      googleAnswer("STOP", [{ functionCall: { name: "look", args: { at: "a" } }, thoughtSignature: "Y2FsbA==" }]),
      googleAnswer("STOP", [{ text: "Seen." }]),
    );
    const session = Session.inMemory();
    await (await google(server.address, driver)).send("Look", { session });
    const [, answer] = pathTo(session.state, session.state.leaf);
    expect(JSON.stringify(answer?.parts)).toContain("Y2FsbA==");
  });
});

test.each(["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST"])(
  "an answer that Google cuts for %s is kept as filtered",
  async (reason) => {
    await using server = await streaming(googleAnswer(reason, [{ text: "Half" }]));
    const turn = await (await google(server.address)).send("Tell me");
    expect(turn).toMatchObject({ reason: "answered", text: "Half", message: { finish: "filtered" } });
  },
);

const ran = {
  executableCode: { language: "PYTHON", code: "print(1)" },
  codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" },
};

test.each([
  ["package", undefined],
  [undefined, "package"],
] as const)(
  "what Google ran, logged by the driver %s, goes back from the driver %s as it came",
  async (wrote, reads) => {
    const { executableCode, codeExecutionResult } = ran;
    const called = [{ functionCall: { name: "look", args: { at: "a" } }, thoughtSignature: "Y2FsbA==" }];
    await using server = await streaming(
      googleAnswer("STOP", [{ text: "Hm", thought: true }], [{ executableCode }], [{ codeExecutionResult }], called),
      googleAnswer("STOP", [{ text: "One." }]),
      googleAnswer("STOP", [{ text: "Any time." }]),
    );
    const session = Session.inMemory();
    await (await google(server.address, wrote)).send("Count", { session });
    await (await google(server.address, reads)).send("Thanks", { session });
    const [, , last] = server.bodies as unknown as { contents: { role: string; parts: object[] }[] }[];
    expect(last?.contents.filter(({ role }) => role === "model").map(({ parts }) => parts)).toMatchObject([
      [{ text: "Hm", thought: true }, { executableCode }, { codeExecutionResult }, called[0]],
      [{ text: "One." }],
    ]);
  },
);
