import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as core from "@banyan/core";
import { Agent, createId, defineTool, handOff, launchAgent, RateLimit, retry, Session, say } from "@banyan/core";
import * as testing from "@banyan/core/testing";
import * as models from "@banyan/models";
import { openai } from "@banyan/models/openai";
import { handler, serve } from "@banyan/server";
import * as memory from "@banyan/store/memory";
import * as postgres from "@banyan/store/postgres";
import * as search from "@banyan/store/search";
import * as sqlite from "@banyan/store/sqlite";
import { describe, expect, onTestFinished, test } from "vitest";

/** A value of each kind. A function must refuse each kind that its row does not list. */
const VALUES: Readonly<Record<string, unknown>> = {
  number: 7,
  text: "x",
  boolean: true,
  null: null,
  list: [7],
  object: { wrng: 7 },
  function: () => {},
  promise: Promise.resolve({}),
  nothing: undefined,
};

/** An argument: a right value, the kinds of values that it takes, and the kinds of its options. */
interface Argument {
  readonly good: unknown;
  readonly takes: string;
  readonly options: Readonly<Record<string, string>>;
}

type Function = (...given: never[]) => unknown;
type Row = readonly [call: Function, args: Readonly<Record<string, Argument>>];

const arg = (good: unknown, takes: string, options: Readonly<Record<string, string>> = {}): Argument => ({
  good,
  takes,
  options,
});
/** The argument with options. A misspelt option, such as those of the value `object`, is refused. */
const options = (kinds: Readonly<Record<string, string>>, good: object | undefined = undefined): Argument =>
  arg(good, good === undefined ? "nothing" : "", kinds);
/** An argument that is a text, and an optional one. */
const word = arg("x", "text");
const maybeWord = arg(undefined, "text nothing");

const model = testing.scriptedModel(() => "Hello.");
const tool = defineTool({
  name: "look",
  description: "",
  input: { type: "object" },
  effects: "none",
  execute: () => "",
});
const agent = new Agent({ name: "guide", description: "Guides.", model });
const store = memory.memoryStore();
const session = Session.inMemory();
const signal = AbortSignal.timeout(600_000);
const folder = mkdtempSync(join(tmpdir(), "misuse-"));
const env = { OPENAI_API_KEY: "k" };
const wire = { id: "a/b", model: "b", baseURL: "http://127.0.0.1:1" };

async function written() {
  const session = Session.inMemory();
  const { message } = await agent.send("Hi", { session });
  return { session, message: message?.id ?? "" };
}
const { session: said, message } = await written();

const CHAT = {
  at: "text",
  id: "text",
  client: "text",
  wait: "boolean",
  signal: "",
  session: "",
};
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

const AGENT = {
  name: "text",
  description: "text",
  model: "",
  modelNamed: "function",
  fallbacks: "",
  instructions: "text",
  tools: "",
  toolChoice: "",
  context: "number text boolean null list object function promise",
  toolsFor: "function",
  settings: "",
  limits: "",
  rateLimit: "",
  retry: "",
  bounds: "",
  mode: "",
  output: "object",
  unattended: "boolean",
  hooks: "",
  guards: "",
  compaction: "",
  storeText: "function",
  memory: "",
  permission: "function",
  callsAtOnce: "number",
  callbacks: "",
  onTurn: "function",
};

/** Options of an agent within an option. */
const WITHIN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  settings: {
    temperature: "",
    topP: "",
    seed: "number",
    maxTokens: "number",
    stop: "",
    effort: "",
    providerOptions: "object",
    serverTools: "list",
  },
  limits: {
    steps: "number",
    tokens: "number",
    cost: "number",
    time: "number",
    depth: "number",
    repeats: "number",
    policy: "",
  },
  retry: { attempts: "number", time: "number", delay: "number", maxDelay: "number", idle: "number", results: "number" },
  bounds: { answer: "number", arguments: "number" },
  hooks: { beforeCall: "function", beforeQuestion: "function", afterCall: "function", beforeSummary: "function" },
  guards: { input: "function", output: "function", hold: "boolean" },
  compaction: {
    hint: "",
    threshold: "",
    contextSize: "number",
    count: "function",
    automatic: "boolean",
    model: "",
    instructions: "text",
    background: "boolean",
  },
  memory: { store: "", limit: "number", timeout: "number", cite: "boolean" },
  callbacks: {
    awaited: "boolean",
    onMessage: "function",
    onCalls: "function",
    onCall: "function",
    onInterjection: "function",
    onAnswer: "function",
    onModelError: "function",
  },
};

/** Makes the agent and sends a message, because the first turn checks some values. */
const sent = (given: object) => new Agent(given as never).send("Hello");
const isPlain = (value: unknown) => Object.getPrototypeOf(value ?? 0) === Object.prototype;
const recallable = { recall: async () => [], remember: async () => {} };

const CORE: Readonly<Record<string, Row>> = {
  Agent: [sent, { options: options({ ...AGENT, model: "" }, { model }) }],
  ...Object.fromEntries(
    Object.entries(WITHIN).map(([name, kinds]): [string, Row] => [
      `Agent with ${name}`,
      [
        (given: object) =>
          sent({ model, [name]: name === "memory" && isPlain(given) ? { store: recallable, ...given } : given }),
        { [name]: arg({}, "nothing", kinds) },
      ],
    ]),
  ),
  "agent.chat": [
    (directive, given) => agent.chat(directive, given).turn,
    { directive: arg(say("Hi"), ""), options: options({ ...CHAT, sharesLimits: "boolean" }) },
  ],
  "agent.send": [
    (content, given) => agent.send(content, given),
    { message: arg("Hi", "text"), options: options({ ...CHAT, untilAsked: "boolean" }) },
  ],
  "agent.answer": [
    (question, answer, given) => agent.answer(question, answer, given),
    {
      question: arg("q", ""),
      answer: arg({ decision: "deny" }, "number text boolean null list object function promise nothing"),
      options: options({ session: "", client: "text", signal: "object" }, { session }),
    },
  ],
  "agent.compact": [
    (given) => agent.compact(given),
    {
      options: options(
        { session: "", at: "", keep: "text", id: "text", signal: "", wait: "boolean" },
        { session: said },
      ),
    },
  ],
  "agent.countTokens": [
    (content, given) => agent.countTokens(content, given),
    { message: arg("Hi", "text"), options: options({ session: "", at: "", signal: "" }) },
  ],
  "agent.asTool": [(given) => agent.asTool(given), { options: options({ name: "text", description: "text" }) }],
  "agent.with": [(changes) => agent.with(changes), { changes: options({ name: "text" }, {}) }],
  "Agent.builder": [
    (name, instructions, settings, limits) =>
      Agent.builder().model(model).name(name).instructions(instructions).settings(settings).limits(limits).build(),
    {
      name: maybeWord,
      instructions: maybeWord,
      settings: options({ maxTokens: "number" }, {}),
      limits: options({ depth: "number" }, {}),
    },
  ],
  say: [(content) => say(content), { message: arg("Hi", "text") }],
  retry: [(content) => retry(content), { message: arg("Hi", "text nothing") }],
  launchAgent: [(given) => launchAgent(given), { options: options({ agents: "", resolveModel: "function" }) }],
  handOff: [
    (to, given) => handOff(to, given),
    { "an Agent": arg(agent, ""), options: options({ name: "text", description: "text" }) },
  ],
  defineTool: [
    (given) => defineTool(given),
    {
      tool: options(
        {
          name: "text",
          description: "text",
          input: "list object function promise",
          effects: "",
          parallel: "boolean",
          eager: "boolean",
          files: "",
          folder: "function",
          timeout: "number",
          maxOutput: "number",
          about: "function",
          preview: "function",
          execute: "function",
          toModelOutput: "function",
        },
        tool,
      ),
    },
  ],
  isCallOf: [
    (item, of) => core.isCallOf(item, of),
    { item: arg({ type: "chat.ended" }, "object"), tool: arg(tool, "object") },
  ],
  RateLimit: [
    (given) => new RateLimit(given),
    { options: options({ requestsPerMinute: "number", tokensPerMinute: "number" }, { requestsPerMinute: 1 }) },
  ],
  emptyConversation: [
    (id, labels) => core.emptyConversation(id, labels),
    { id: maybeWord, labels: arg(undefined, "object nothing") },
  ],
  reduce: [(state, item) => core.reduce(state, item), { state: arg(core.emptyConversation(), ""), item: anything({}) }],
  leaves: [(state) => core.leaves(state), { state: arg(said.state, "") }],
  newestLeaf: [
    (state, of) => core.newestLeaf(state, of),
    { state: arg(said.state, ""), message: arg(message, "text") },
  ],
  pathTo: [(state, leaf) => core.pathTo(state, leaf), { state: arg(said.state, ""), leaf: arg(message, "text null") }],
  textOf: [(of) => core.textOf(of), { message: arg({ parts: [] }, "") }],
  usageOnPath: [(path) => core.usageOnPath(path), { path: arg([], "") }],
  cursorOf: [(item) => core.cursorOf(item), { item: arg({}, "object list promise function") }],
  isDelta: [(item) => core.isDelta(item), { item: arg({}, "object list promise function") }],
  isEvent: [(item) => core.isEvent(item), { item: arg({}, "object list promise function") }],
  isId: [(text) => core.isId(text), { text: anything("a") }],
};

function anything(good: unknown): Argument {
  return arg(good, Object.keys(VALUES).join(" "));
}

const inSession = Session.inMemory();
const SESSION: Readonly<Record<string, Row>> = {
  "Session.open": [
    (given, id, more) => Session.open(given, id, more),
    {
      store: arg(memory.memoryStore(), ""),
      id: maybeWord,
      options: options({ create: "boolean", labels: "", window: "number" }),
    },
  ],
  "Session.inMemory": [(given) => Session.inMemory(given), { options: options({ labels: "", window: "number" }) }],
  "session.notify": [(notice) => session.notify(notice), { notice: arg({ type: "chat.ended", reason: "stop" }, "") }],
  "session.listen": [(listener) => session.listen(listener), { listener: arg({ items() {}, ended() {} }, "") }],
  "session.interrupt": [(run) => session.interrupt(run), { run: maybeWord }],
  "session.feed": [(given) => session.feed(given), { options: options({ from: "" }) }],
  "session.say": [
    (content, given) => Session.inMemory().say(content, given),
    { message: arg("Hi", "text"), options: options({ delivery: "", run: "", id: "text" }) },
  ],
  "session.editInput": [
    (input, change) => inSession.editInput(input, change),
    {
      input: arg(await inSession.say("Hi"), ""),
      change: options({ parts: "text", delivery: "", before: "text null", run: "" }, {}),
    },
  ],
  "session.withdrawInput": [
    async (input) => {
      const session = Session.inMemory();
      const id = await session.say("Hi");
      await session.withdrawInput((input === "good" ? id : input) as string);
    },
    { input: arg("good", "") },
  ],
  "session.add": [
    (content, given) => Session.inMemory().add(content, given),
    { message: arg("Hi", "text"), options: options({ at: "null", author: "", id: "text", worktree: "text" }) },
  ],
  "session.addHistory": [
    (messages, given) => Session.inMemory().addHistory(messages, given),
    { messages: arg([{ role: "user", content: "Hi" }], ""), options: options({ at: "null" }) },
  ],
  "session.toMessages": [
    (form, given) => said.toMessages(form, given),
    { form: arg("openai-chat", ""), options: options({ at: "null" }) },
  ],
  "session.hold": [
    (leaf, work) => Session.inMemory().hold(leaf, work),
    { message: arg(null, "null"), work: arg(() => {}, "function") },
  ],
  "session.answer": [
    (question, answer) => session.answer(question, answer),
    { question: arg("q", ""), answer: arg({ decision: "deny" }, "") },
  ],
  "session.revoke": [(pattern) => session.revoke(pattern), { pattern: word }],
  "session.processes.stop": [(process) => session.processes.stop(process), { process: arg("p1", "") }],
  "notes.label": [
    (of, label) => said.notes.label(of, label),
    { message: arg(message, ""), label: arg("x", "text null") },
  ],
  "notes.star": [
    (of, starred) => said.notes.star(of, starred),
    { message: arg(message, ""), starred: arg(true, "boolean") },
  ],
  "notes.remove": [(of) => said.notes.remove(of), { message: arg(message, "") }],
  "notes.restore": [(of) => said.notes.restore(of), { message: arg(message, "") }],
  "notes.rename": [(title) => said.notes.rename(title), { title: word }],
  "notes.changeModel": [(name) => said.notes.changeModel(name), { model: word }],
  "notes.fileChange": [
    (of, change) => said.notes.fileChange(of, change),
    { call: arg("c", ""), change: arg({}, "object list") },
  ],
  "notes.usage": [
    (spent) => said.notes.usage(spent),
    { spent: arg({ purpose: "title", model: "a/b", usage: {} }, "") },
  ],
};

const RESOLVE = { env: "object", aliases: "", overrides: "object", bounds: "", fetch: "function" };
const MODELS: Readonly<Record<string, Row>> = {
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
const storeRows = (name: string, of: core.Store): Readonly<Record<string, Row>> => ({
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
const STORES: Readonly<Record<string, Row>> = {
  ...storeRows("memoryStore", store),
  ...storeRows("sqliteStore", inFolder),
  sqliteStore: [
    (given) => sqlite.sqliteStore(given),
    { options: options({ directory: "text", program: "text", openFiles: "number" }, { directory: folder }) },
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
const TESTING: Readonly<Record<string, Row>> = {
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
const SERVER: Readonly<Record<string, Row>> = {
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

/** Names of our error classes. */
const OURS =
  /^(OptionError|SessionError|DirectiveError|ChatError|StoreError|ToolDefinitionError|LimitError|ModelChoiceError|UnfitAnswerError|TurnError)$/;

/** A wrong call: what is wrong, the call, and the words that its refusal must have. */
type Misuse = readonly [what: string, call: () => unknown, words: readonly string[]];

function misusesOf([name, [call, args]]: [string, Row]): readonly Misuse[] {
  const places = Object.entries(args);
  const goods = places.map(([, { good }]) => good);
  const given = (place: number, value: unknown) => () => call(...(goods.with(place, value) as never[]));
  return places.flatMap(([argument, { good, takes, options }], place): Misuse[] => {
    const kinds = Object.keys(VALUES).filter((kind) => !takes.split(" ").includes(kind));
    const whole = kinds.map((kind): Misuse => {
      const words = [
        argument,
        "options of",
        "is no option of",
        "is missing",
        "needs",
        "parts[",
        name.split(".").at(-1) ?? "",
      ];
      return [`${argument}: ${kind}`, given(place, VALUES[kind]), words];
    });
    const single = Object.entries(options).flatMap(([option, takes]) =>
      Object.keys(VALUES)
        .filter((kind) => kind !== "nothing" && !takes.split(" ").includes(kind))
        .map((kind): Misuse => {
          const value = { ...(good as object), [option]: VALUES[kind] };
          return [`${option}: ${kind}`, given(place, value), [option, option.replace(/s$/, "")]];
        }),
    );
    const misspelt = Object.keys(options).map((option): Misuse => {
      const value = { ...(good as object), [`${option}x`]: 7 };
      return [`${option}x`, given(place, value), [`${option}x is no`]];
    });
    return [...whole, ...single, ...misspelt];
  });
}

/** What is wrong with the answer to a misuse; nothing if it is refused in one sentence that names the argument. */
async function fault([what, call, words]: Misuse): Promise<string | undefined> {
  try {
    await call();
  } catch (error) {
    const { name, message } = error as Error;
    const shown = `${what}: ${name}: ${message}`;
    if (!OURS.test(name)) return shown;
    if (!/^\S.*[.?]$/s.test(message)) return `${shown} (no sentence)`;
    return words.some((word) => message.includes(word)) ? undefined : `${shown} (does not name ${words[0]})`;
  }
  return `${what}: accepted`;
}

const TABLE = { ...CORE, ...SESSION, ...MODELS, ...STORES, ...TESTING, ...SERVER };

describe("L11: each argument and option refuses every kind of value that it cannot use", () => {
  test.each(Object.entries(TABLE))("%s", async (name, row) => {
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const faults: string[] = [];
    for (const misuse of misusesOf([name, row])) {
      const found = await fault(misuse);
      if (found !== undefined) faults.push(found);
    }
    expect(faults).toEqual([]);
  });
});

/** Calls that a program could only make in another situation, such as an answer to an open question. */
const ELSEWHERE = [
  "agent.answer",
  "session.answer",
  "session.processes.stop",
  "notes.fileChange",
  "recorded",
];

test("L11: the right values of the table are accepted", async () => {
  const refused: string[] = [];
  for (const [name, [call, args]] of Object.entries(TABLE)) {
    if (ELSEWHERE.includes(name)) continue;
    const found = await (async () => call(...(Object.values(args).map(({ good }) => good) as never[])))().catch(
      (error: unknown) => refused.push(`${name}: ${(error as Error).message}`),
    );
    await (found as Partial<AsyncDisposable> | undefined)?.[Symbol.asyncDispose]?.();
  }
  expect(refused).toEqual([]);
});

/** Exports that take no arguments, or make errors. */
const WITHOUT =
  /^(askClient|createId|resume|shortenConversation|stop|stall|cut|DeltaReader|loadWire|memoryStore|forgetfulStore|.*Error|Interruption|Session)$/;
/** Functions of a cluster, which get the database of `postgresStore`. */
const CLUSTER = /^(Takeover|runsToGoOnWith)$/;

test("L11: the table has each function that the entries export", () => {
  const entries = { ...core, ...testing, ...models, ...memory, ...postgres, ...search, ...sqlite };
  const exported = Object.entries(entries).flatMap(([name, value]) => (typeof value === "function" ? [name] : []));
  const missing = exported.filter((name) => !(name in TABLE) && !WITHOUT.test(name) && !CLUSTER.test(name));
  expect(missing).toEqual([]);
  expect(createId()).toMatch(/^\w+$/);
});
