import type { Json, ModelSettings } from "@banyan/core";
import { efforts, type ModelRequest, type PromptMessage } from "@banyan/core/drivers";
import { describe, expect, test } from "vitest";
import { eventOf } from "../testing/server.ts";
import { say } from "../testing/sink.ts";
import { answersTo } from "./ways.fixture.ts";

type Answer = Extract<PromptMessage, { role: "assistant" }>;

const text = (said: string) => ({ type: "text", text: said }) as const;
const user = (...parts: Extract<PromptMessage, { role: "user" }>["parts"]): PromptMessage => ({ role: "user", parts });
const answer = (...parts: Answer["parts"]): Answer => ({ role: "assistant", parts, results: [] });
const signed = (signature: string) => ({ provider: { google: { thoughtSignature: signature } } });
const call = (id: string, more: object = {}) =>
  ({ type: "call", id, tool: "look", input: { at: id }, ...more }) as const;
const called = (parts: Answer["parts"], more: object = {}): Answer => ({
  ...answer(...parts),
  results: parts.flatMap((part) =>
    part.type === "call" ? [{ call: part.id, tool: part.tool, output: `seen ${part.id}`, failed: false, ...more }] : [],
  ),
});
const acted = (part: object) =>
  ({ type: "provider", text: "", provider: { google: { part } } }) as Answer["parts"][number];
const executed = { toolCallId: "c1", toolName: "code_execution" };
const ran = acted({ type: "tool-call", ...executed, input: { language: "PYTHON", code: "1" }, providerExecuted: true });
const open = acted({
  ...executed,
  type: "tool-call",
  toolCallId: "c2",
  input: { language: "PYTHON", code: "2" },
  providerExecuted: true,
});
const printed = acted({
  type: "tool-result",
  ...executed,
  output: { type: "json", value: { outcome: "OUTCOME_OK", output: "1" } },
});
const own = { google: { thoughtSignature: "c2ln", serverToolCallId: "s1", serverToolType: "GOOGLE_SEARCH_WEB" } };
const server = { toolCallId: "s1", toolName: "server:GOOGLE_SEARCH_WEB", providerOptions: own };
const searched = acted({ type: "tool-call", ...server, input: { queries: ["figs"] }, providerExecuted: true });
const unsigned = acted({
  type: "tool-call",
  ...server,
  providerOptions: { google: { serverToolCallId: "s1", serverToolType: "URL_CONTEXT" } },
  input: {},
  providerExecuted: true,
});
const found = acted({ type: "tool-result", ...server, output: { type: "json", value: { found: 1 } } });
const png = { type: "file", mediaType: "image/png", data: "QUJD", digest: "d" } as const;

/** Messages of every kind. */
const messages: Readonly<Record<string, PromptMessage>> = {
  "a text": user(text("Hello")),
  "texts, one of them empty": user(text("One"), text(""), text("two")),
  "files, with bytes and by address": user(
    { type: "file", mediaType: "image/png", data: "QUJD" },
    { type: "file", mediaType: "audio/mpeg", name: "a.mp3", data: "QUJD" },
    { type: "file", mediaType: "video/mp4", url: "https://a.example/b c.mp4" },
    { type: "file", mediaType: "application/pdf", url: "gs://bucket/a.pdf" },
    text("Read"),
  ),
  "an answer": answer(text(" Yes.\n")),
  "a signed answer, and a signature alone": answer({ ...text("Yes"), ...signed("a") }, { ...text(""), ...signed("b") }),
  thoughts: answer({ type: "reasoning", text: "Hm.", ...signed("a") }, text("So.")),
  "thoughts of another model": answer(
    { type: "reasoning", text: "Hm.", provider: { anthropic: { signature: "c2ln" } } },
    text("So."),
  ),
  "a signed call, and one beside it": called([text("See."), call("a", signed("x")), call("b")]),
  "calls without signatures": called([call("a"), call("b", signed("x")), call("c")]),
  "a call of a model at Vertex AI": called([call("a", { provider: { vertex: { thoughtSignature: "v" } } })]),
  "a call that failed": called([call("a")], { failed: true }),
  "a call with files": called([call("a")], { files: [png, { ...png, mediaType: "application/pdf", name: "a.pdf" }] }),
  "a failed call with a file, and one of an unknown type": called([call("a")], {
    failed: true,
    files: [png, { ...png, mediaType: "model/obj", name: "a.obj" }],
  }),
  "code that Google ran": answer(text("x"), ran, printed, text("y")),
  "code without a result": answer(text("x"), open),
  "only code without a result, then calls": called([open, call("a")]),
  "a search of Google": called([searched, found, text("y"), call("a", signed("x"))]),
  "a search without a signature": called([unsigned, found, call("a")]),
  "what another provider did": answer(text("So."), { type: "provider", text: "", provider: { openai: { part: {} } } }),
  "an answer that broke off": { ...answer({ ...text("Ye"), ...signed("a") }, ran, printed), unfinished: true },
};

const input = { type: "object", properties: { at: { type: "string", enum: ["a"], const: "a" } } };
const tools = [
  { name: "look", description: "Looks.", input },
  { name: "peek", description: "", input: { type: "object" } },
] as const;

const MODELS = ["gemini-2.5-flash", "gemini-3.5-flash", "gemma-3-27b-it", "models/gemini-3-pro-preview"] as const;
const yes = eventOf({ candidates: [{ content: { parts: [{ text: "Yes" }] }, finishReason: "STOP" }] });

/** Options of the package. */
const OPTIONS: readonly Readonly<Record<string, Json>>[] = [
  { thinkingConfig: { includeThoughts: true } },
  { thinkingConfig: { includeThoughts: true, thinkingBudget: 0 } },
  { thinkingConfig: { thinkingLevel: "low" } },
  { responseModalities: ["TEXT", "IMAGE"], mediaResolution: "MEDIA_RESOLUTION_LOW", audioTimestamp: true },
  {
    imageConfig: { aspectRatio: "16:9", personGeneration: "ALLOW_ALL", prominentPeople: "ALLOW_PROMINENT_PEOPLE" },
  },
  { safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }] },
  { threshold: "BLOCK_NONE", cachedContent: "cachedContents/a", labels: { team: "forest" }, serviceTier: "flex" },
  { retrievalConfig: { latLng: { latitude: 1, longitude: 2 } }, continuationToken: "t0" },
  { streamFunctionCallArguments: true, sharedRequestType: "flex", requestType: "shared" },
];

async function expectEqual(model: string, request: Partial<ModelRequest>): Promise<unknown> {
  const { own, theirs } = await answersTo([yes], say("Hi", request), model);
  expect(own.bodies).toHaveLength(1);
  expect(own).toEqual(theirs);
  return own.bodies[0];
}

describe.each(MODELS)("a request to %s is equal to that of the provider's package", (model) => {
  test.each(Object.entries(messages))("with %s, before everything else", async (_, message) => {
    for (const next of [user(text("Now")), ...Object.values(messages)])
      await expectEqual(model, {
        instructions: "Be kind.",
        messages: [user(text("First")), message, next, user(text("Now"))],
      });
    await expectEqual(model, { messages: [user(text("First")), message] });
  });

  test.each<ModelRequest["toolChoice"]>(["auto", "none", "required", { tool: "peek" }])(
    "with tools and the choice %s, beside tools of Google",
    async (toolChoice) => {
      const all = ["google_search", "enterprise_web_search", "url_context", "code_execution", "google_maps"];
      for (const names of [[], ["google_search"], ["file_search"], all, ["vertex_rag_store"]])
        for (const offered of [tools, []]) {
          const args = {
            google_search: { searchTypes: { webSearch: {} } },
            file_search: { fileSearchStoreNames: ["a"], topK: 3 },
          };
          const rag = { ragCorpus: "c", topK: 4 };
          const serverTools = names.map((name) => ({
            id: `google.${name}` as const,
            name,
            args: { ...args, vertex_rag_store: rag }[name] ?? {},
          }));
          const foreign = { id: "anthropic.web_search_20250305", name: "web_search" } as const;
          if (offered.length === 0 && toolChoice !== "auto" && toolChoice !== "none") continue;
          // The package leaves out functions beside tools of Google that the model does not have.
          if (model.startsWith("gemma") && offered.length > 0 && names.length > 0 && toolChoice !== "none") continue;
          await expectEqual(model, {
            tools: offered,
            toolChoice,
            settings: { serverTools: [...serverTools, foreign] },
          });
        }
    },
  );

  test.each<[string, ModelSettings]>([
    [
      "temperature, topP, seed, maxTokens and stop",
      { temperature: 0.5, topP: 0.9, seed: 7, maxTokens: 9, stop: ["END"] },
    ],
    ["no stop", { stop: [] }],
    ...efforts.map((effort): [string, ModelSettings] => [`effort ${effort}`, { effort }]),
    ...OPTIONS.map((google): [string, ModelSettings] => [
      Object.keys(google).join(", "),
      { effort: "high", providerOptions: { google } },
    ]),
  ])("with the settings: %s", async (_, settings) => {
    await expectEqual(model, { settings, tools });
    await expectEqual(model, { settings });
  });

  test("with the schema of the result", async () => {
    const at = { type: "string", const: "a" };
    const output = {
      type: "object",
      properties: { const: at, list: { type: "array", items: { anyOf: [at, { type: "null" }] } } },
      required: ["const"],
    };
    for (const structuredOutputs of [true, false])
      for (const offered of [tools, []]) {
        const settings = { providerOptions: { google: { structuredOutputs } } };
        await expectEqual(model, { output, tools: offered, settings });
      }
  });
});

test("the effort is equal for every model name that Google's package knows, and for others", async () => {
  const names = [
    ...["gemini-4-hydrogen", "gemini-4-argon", "gemini-3.8-flash", "gemini-3.7-flash", "gemini-3.7-flash-lite"],
    ...["gemini-3.6-flash", "gemini-3.10-flash-preview", "gemini-3.1-pro-preview", "gemini-3-pro-image-preview"],
    ...["gemini-3-flash-preview", "gemini-2.5-pro", "gemini-2.5-flash-lite", "gemini-2.0-flash", "gemini-flash-latest"],
    ...[
      "gemini-flash-lite-latest",
      "gemini-pro-latest",
      "gemini-pro",
      "gemini-1.5-pro",
      "tunedModels/mine",
      "m",
      "aqa",
    ],
    ...["gemini-robotics-er-1.5-preview", "gemini-4.1-flash", "gemini-12-pro", "gemini-3.1-pro-preview-customtools"],
    ...["nano-banana-pro-preview", "gemini-3-pro", "gemini-3.7-flash-preview"],
  ];
  for (const name of names)
    for (const effort of efforts)
      await expectEqual(name, {
        settings: {
          effort,
          ...(effort === "low" ? {} : { serverTools: [{ id: "google.file_search", name: "file_search" }] }),
        },
        messages: [user(text("First")), called([call("a")]), user(text("Now"))],
        tools: effort === "low" ? tools : [],
      });
});

test("options that the package does not know reach Google", async () => {
  const settings = {
    temperature: 1,
    providerOptions: { google: { topK: 40, store: true, generationConfig: { temperature: 2 }, toolConfig: { x: 1 } } },
  };
  const { own } = await answersTo([yes], say("Hi", { settings, tools }));
  expect(own.bodies[0]).toMatchObject({
    store: true,
    generationConfig: { topK: 40, temperature: 2 },
    toolConfig: { functionCallingConfig: { mode: "AUTO" }, x: 1 },
  });
});

test("code that ran under the user's own name for the tool goes back as code", async () => {
  const serverTools = [{ id: "google.code_execution", name: "python" }] as const;
  const renamed = acted({
    type: "tool-call",
    toolCallId: "c1",
    toolName: "python",
    input: { language: "PYTHON", code: "1" },
    providerExecuted: true,
  });
  const request = {
    settings: { serverTools },
    messages: [user(text("Hi")), answer(renamed, printed), user(text("So?"))],
  };
  const { own } = await answersTo([yes], say("Hi", request));
  expect(JSON.stringify(own.bodies[0])).toContain('"executableCode":{"language":"PYTHON","code":"1"}');
});

test("an address of any image type is sent without a type, and a file without content is refused", async () => {
  const file = { type: "file", mediaType: "image/*" } as const;
  const sent = await answersTo([yes], say("", { messages: [user({ ...file, url: "https://a.example/b" })] }));
  expect(JSON.stringify(sent.own.bodies[0])).toContain('{"fileData":{"fileUri":"https://a.example/b"}}');
  for (const bad of [file, { ...file, url: "no address" }]) {
    const { own, theirs } = await answersTo([yes], say("", { messages: [user(bad)] }));
    expect(own).toMatchObject({ error: "invalid-request", bodies: [] });
    expect(own).toEqual(theirs);
  }
});
