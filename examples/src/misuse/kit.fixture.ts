import type { Store } from "@banyan/core";
import * as testing from "@banyan/core/testing";
import * as models from "@banyan/models";
import { openai } from "@banyan/models/openai";
import { handler, serve } from "@banyan/server";
import * as postgres from "@banyan/store/postgres";
import * as search from "@banyan/store/search";
import * as sqlite from "@banyan/store/sqlite";
import {
  agent,
  anything,
  arg,
  env,
  folder,
  maybeWord,
  message,
  model,
  options,
  type Row,
  said,
  signal,
  store,
  wire,
  word,
} from "./argument.fixture.ts";

const WIRE = {
  id: "text",
  model: "text",
  baseURL: "",
  apiKey: "text",
  keyVariable: "text",
  price: "",
  contextSize: "number",
  takes: "list",
  settings: "",
  fetch: "function",
  proxy: "",
};

const RESOLVE = { env: "object", aliases: "", overrides: "object", bounds: "", fetch: "function" };
export const MODELS: Readonly<Record<string, Row>> = {
  resolveModel: [
    (name, given) => models.resolveModel(name, given),
    { name: arg("openai/gpt", ""), options: options(RESOLVE, { env }) },
  ],
  checkModel: [
    (name, given, needsSetUp) => models.checkModel(name, given, needsSetUp),
    {
      name: arg("openai/gpt-5", ""),
      options: options({ env: "object", aliases: "", overrides: "object" }, { env }),
      needsSetUp: arg(undefined, "boolean nothing"),
    },
  ],
  chooseModel: [
    (given) => models.chooseModel(given),
    { options: arg({ env }, "nothing", { flag: "text", setting: "text", env: "object", signal: "" }) },
  ],
  embeddingModel: [
    (name, given) => models.embeddingModel(name, given),
    { name: arg("openai/e", ""), options: options({ env: "object", aliases: "", fetch: "function" }, { env }) },
  ],
  listModels: [
    (provider, given) => models.listModels(provider, given),
    { provider: arg("openai", ""), options: options({ overrides: "object", listed: "", env: "object" }) },
  ],
  listProviders: [
    (given) => models.listProviders(given),
    { options: arg({ env: { BANYAN_NO_DISCOVERY: "1" } }, "nothing", { env: "object", signal: "" }) },
  ],
  localModelServers: [
    (given, until) => models.localModelServers(given, until),
    { env: arg({}, "object nothing"), signal: arg(signal, "nothing") },
  ],
  openAIChat: [
    (given) => models.openAIChat(given),
    { options: options({ ...WIRE, headers: "", bounds: "", maxTokensField: "", textCalls: "boolean" }, wire) },
  ],
  openAIResponses: [
    (given) => models.openAIResponses(given),
    { options: options({ ...WIRE, headers: "", bounds: "", provider: "" }, wire) },
  ],
  anthropicMessages: [
    (given) => models.anthropicMessages(given),
    { options: options({ ...WIRE, headers: "", bounds: "" }, wire) },
  ],
  toOpenAIMessages: [(path) => models.toOpenAIMessages(path), { path: arg([], "") }],
  withoutEffort: [(name) => models.withoutEffort(name), { name: word }],
  openai: [
    (name, given) => openai(name, given),
    {
      name: word,
      options: options(
        {
          apiKey: "text",
          baseURL: "",
          env: "object",
          price: "",
          contextSize: "number",
          takes: "list",
          settings: "",
          bounds: "",
          fetch: "function",
        },
        { env },
      ),
    },
  ],
};

const inFolder = sqlite.sqliteStore({ directory: folder });
const shared = { shared: { left: async () => [] } };
/** The methods of a store. */
const storeRows = (name: string, of: Store): Readonly<Record<string, Row>> => ({
  [`${name}.open`]: [
    async (id, given) => (await of.open(id, given)).close(),
    {
      conversation: arg("a1", "text"),
      options: arg({ create: true }, "nothing", { create: "boolean", take: "boolean" }),
    },
  ],
  [`${name}.list`]: [(query) => of.list(query), { query: options({ labels: "", limit: "number" }) }],
  [`${name}.search`]: [
    (query, given) => of.search(query, given),
    { query: word, options: options({ limit: "number", labels: "", conversation: "text" }) },
  ],
  [`${name}.view`]: [(id) => of.view(id), { conversation: arg("a1", "") }],
  [`${name}.remove`]: [(id) => of.remove(id), { conversation: arg("a1", "") }],
});
export const STORES: Readonly<Record<string, Row>> = {
  ...storeRows("memoryStore", store),
  ...storeRows("sqliteStore", inFolder),
  sqliteStore: [
    (given) => sqlite.sqliteStore(given),
    { options: options({ directory: "text", program: "text", openFiles: "number" }, { directory: folder }) },
  ],
  listPage: [
    (summaries, query) => search.listPage(summaries, query),
    { summaries: arg([], ""), query: options({ labels: "", limit: "number" }) },
  ],
  conversationFile: [(directory, id) => sqlite.conversationFile(directory, id), { directory: word, id: word }],
  postgresStore: [
    (url, given) => postgres.postgresStore(url, given),
    {
      address: arg("postgres://a@127.0.0.1/a", ""),
      options: options({
        program: "text",
        address: "text",
        machine: "text",
        connections: "number",
        patience: "number",
        schema: "text",
      }),
    },
  ],
  isPostgresUrl: [(text) => postgres.isPostgresUrl(text), { text: anything("a") }],
  redrive: [
    (given, more) => postgres.redrive(given, more),
    { store: arg(shared, ""), options: options({ agent: "function", defect: "function" }, { agent }) },
  ],
  searchLogs: [
    (logs, query, given) => search.searchLogs(logs, query, given),
    { logs: arg([], ""), query: word, options: options({ limit: "number", labels: "", conversation: "text" }) },
  ],
};

const pieces = arg("x", "text");
export const TESTING: Readonly<Record<string, Row>> = {
  scriptedModel: [
    (script, given) => testing.scriptedModel(script, given),
    { script: arg([], "function list"), options: options({ id: "text", price: "", pace: "number" }) },
  ],
  text: [(piece) => testing.text(piece), { pieces }],
  reasoning: [(piece) => testing.reasoning(piece), { pieces }],
  parts: [(part) => testing.parts(part), { parts: arg({ type: "text", text: "x" }, "") }],
  call: [
    (name, input, id) => testing.call(name, input, id),
    { tool: word, input: arg({}, "number text boolean null list object nothing"), id: maybeWord },
  ],
  finishTask: [(result) => testing.finishTask(result), { result: arg({}, "number text boolean null list object") }],
  rawCall: [(name, text, id) => testing.rawCall(name, text, id), { tool: word, text: word, id: maybeWord }],
  spend: [(usage) => testing.spend(usage), { usage: options({ input: "number", output: "number" }, {}) }],
  end: [(reason) => testing.end(reason), { reason: arg("stop", "") }],
  pause: [(milliseconds) => testing.pause(milliseconds), { milliseconds: arg(1, "number") }],
  until: [(gate) => testing.until(gate), { gate: arg(Promise.resolve(), "promise") }],
  fail: [
    (code, details) => testing.fail(code, details),
    {
      code: arg("overloaded", "text"),
      details: options({ message: "text", status: "number", retryAfter: "number" }),
    },
  ],
  collect: [(feed) => testing.collect(feed), { feed: arg((async function* () {})(), "") }],
  readUntil: [
    (feed, fits) => testing.readUntil(feed, fits),
    { feed: arg({ next: async () => ({ value: {}, done: false }) }, ""), fits: arg(() => true, "function") },
  ],
  checkConversation: [
    (state, log) => testing.checkConversation(state, log),
    { state: arg(said.state, ""), log: arg([], "list nothing") },
  ],
  characterTexts: [
    (count, longest) => testing.characterTexts(count, longest),
    { count: arg(1, "number"), longest: arg(1, "number") },
  ],
  tornCharacters: [(text) => testing.tornCharacters(text), { text: word }],
  storeConformance: [(make) => testing.storeConformance(make), { make: arg(async () => ({ store }), "function") }],
  branchFrom: [
    (step, given) => testing.branchFrom(step, given),
    {
      step: arg(said.state.messages.get(message), ""),
      options: options({ session: "", agent: "", model: "" }, { session: said, agent }),
    },
  ],
  recorded: [
    (file, open, given) => testing.recorded(file, open, given),
    {
      file: arg("x", "text"),
      "a function": arg(() => model, "function"),
      options: options({ record: "boolean", timing: "boolean", secrets: "" }),
    },
  ],
};

const SERVE = {
  port: "number",
  hostname: "text",
  allowedHosts: "",
  allowedOrigins: "",
  token: "text",
  guestToken: "text",
  page: "text",
  state: "text",
  idle: "number",
  connections: "number",
  cluster: "",
  log: "function",
  store: "",
};
export const SERVER: Readonly<Record<string, Row>> = {
  serve: [
    async (of, given) => (await serve(of, given)).stop(),
    { agent: arg(agent, ""), options: options(SERVE, { store }) },
  ],
  handler: [
    (of, given) => handler(of, given).close(),
    {
      Agent: arg(agent, ""),
      options: options(
        {
          store: "",
          token: "text",
          authorize: "function",
          path: "",
          allowedHosts: "",
          allowedOrigins: "",
          state: "text",
          idle: "number",
          log: "function",
        },
        { store },
      ),
    },
  ],
};
