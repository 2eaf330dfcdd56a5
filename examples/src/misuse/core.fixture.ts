import * as core from "@banyan/core";
import { Agent, defineTool, handOff, launchAgent, RateLimit, retry, Session, say } from "@banyan/core";
import { memoryStore } from "@banyan/store/memory";
import {
  agent,
  anything,
  arg,
  maybeWord,
  message,
  model,
  options,
  type Row,
  said,
  session,
  tool,
  word,
} from "./argument.fixture.ts";

const CHAT = {
  at: "text",
  id: "text",
  client: "text",
  wait: "boolean",
  signal: "",
  session: "",
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
  goal: "",
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

export const CORE: Readonly<Record<string, Row>> = {
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

const inSession = Session.inMemory();
export const SESSION: Readonly<Record<string, Row>> = {
  "Session.open": [
    (given, id, more) => Session.open(given, id, more),
    {
      store: arg(memoryStore(), ""),
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
