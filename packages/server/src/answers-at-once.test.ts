import { setTimeout as sleep } from "node:timers/promises";
import { type AgentOptions, defineTool, type Event, emptyConversation, isEvent, reduce } from "@banyan/core";
import { call, checkConversation, scriptedModel } from "@banyan/core/testing";
import { type Command, type CommandName, commands } from "@banyan/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { served } from "./testing/served.fixture.ts";
import { temporaryDirectory } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

/** Milliseconds for an answer on a busy machine. */
const AT_ONCE = 10_000;

const words = (text: string) => [{ type: "text", text }] as const;

/** An agent that asks the user in each turn, except in a turn that begins with "plain". */
function asking(): AgentOptions {
  const model = scriptedModel(({ messages }) => {
    const said = messages.findLast(({ role }) => role === "user");
    const [part] = said?.parts ?? [];
    const isPlain = part?.type === "text" && /^(?:plain|Sum up)/.test(part.text);
    return isPlain ? "Plain." : [call("shell")];
  });
  const shell = defineTool({
    name: "shell",
    description: "",
    input: { type: "object" },
    effects: "external",
    execute: () => "ok",
  });
  return { model, tools: [shell], permission: () => ({ decision: "ask" }) };
}

type Site = Awaited<ReturnType<typeof served>>;

/** Adds a prompt to the site, for `prompt.say`. */
function withPrompt(site: Site): Site {
  const { ready } = site.host;
  const prompt = { name: "port", description: "", hint: undefined, model: undefined, text: "Port it." };
  site.host.ready = async () => Object.assign(await ready(), { commands: [prompt] });
  return site;
}

/** A place in a conversation. */
interface Here {
  readonly conversation: string;
  /** The first message, and the end of the branch. */
  readonly first: string;
  readonly leaf: string;
  readonly run: string;
  readonly question: string;
  readonly call: string;
}

/** A conversation with one exchange and, with `waits`, a turn that asks the user. */
async function conversationAt(client: TestClient, { waits }: { readonly waits: boolean }): Promise<Here> {
  const { conversation } = await client.ask("conversation.create", {});
  const { state } = await client.watch(conversation);
  const { message: first } = await client.ask("turn.say", { conversation, parts: words("plain") });
  await client.until(() => state.messages.size === 2 && state.runs.size === 0);
  if (!waits) return { conversation, first, leaf: state.leaf ?? "", run: "none", question: "none", call: "none" };
  await client.ask("turn.say", { conversation, parts: words("go") });
  const question = await client.until(() => [...state.questions.values()][0]);
  const [run] = [...state.runs.keys()];
  const asked = question.type === "approval" ? question.call : "";
  return { conversation, first, leaf: state.leaf ?? "", run: run ?? "", question: question.id, call: asked };
}

type Input<Name extends CommandName> = Omit<Command<Name>, "type" | "id">;

/** A valid input of each command while a turn waits for the user. The compiler requires every command. */
const INPUTS: { readonly [Name in CommandName]: (here: Here) => Input<Name> } = {
  "conversation.list": () => ({}),
  "conversation.watch": () => ({ on: true }),
  "conversation.search": () => ({ query: "plain" }),
  "conversation.create": () => ({}),
  "conversation.open": ({ conversation }) => ({ named: conversation }),
  "conversation.rename": ({ conversation }) => ({ conversation, title: "Title" }),
  "conversation.remove": ({ conversation }) => ({ conversation }),
  "conversation.seen": ({ conversation }) => ({ conversation }),
  "conversation.export": ({ conversation }) => ({ conversation, format: "json" }),
  "conversation.import": () => ({ text: "{}" }),
  "feed.subscribe": ({ conversation }) => ({ conversation }),
  "feed.unsubscribe": ({ conversation }) => ({ conversation }),
  "message.read": ({ conversation, first }) => ({ conversation, messages: [first] }),
  "context.read": ({ conversation }) => ({ conversation }),
  "turn.say": ({ conversation }) => ({ conversation, parts: words("more") }),
  "prompt.list": () => ({}),
  "prompt.say": ({ conversation }) => ({ conversation, prompt: "port" }),
  "message.add": ({ conversation }) => ({ conversation, parts: words("a note") }),
  "history.add": ({ conversation }) => ({ conversation, messages: [{ role: "user", content: "an earlier note" }] }),
  "turn.retry": ({ conversation }) => ({ conversation }),
  "turn.resume": ({ conversation }) => ({ conversation }),
  "turn.hasten": ({ conversation }) => ({ conversation }),
  "run.interrupt": ({ conversation }) => ({ conversation }),
  "process.stop": ({ conversation }) => ({ conversation, process: "p1" }),
  "input.edit": ({ conversation }) => ({ conversation, input: "none", delivery: "queue" }),
  "input.withdraw": ({ conversation }) => ({ conversation, input: "none" }),
  "branch.compact": ({ conversation }) => ({ conversation }),
  "branch.fan": ({ conversation }) => ({ conversation, parts: words("more"), times: 2, worktrees: false }),
  "branch.compare": ({ conversation }) => ({ conversation }),
  "branch.bring": ({ conversation, first, leaf }) => ({ conversation, from: leaf, to: first }),
  "worktree.open": ({ conversation }) => ({ conversation }),
  "worktree.list": () => ({}),
  "worktree.remove": () => ({ name: "none" }),
  "question.list": () => ({}),
  "question.answer": ({ conversation, question }) => ({ conversation, question, answer: { decision: "deny" } }),
  "rule.revoke": ({ conversation }) => ({ conversation, pattern: "shell" }),
  "message.label": ({ conversation, first }) => ({ conversation, message: first, label: "first" }),
  "summary.edit": ({ conversation, first }) => ({ conversation, message: first, text: "In other words." }),
  "memory.dismiss": ({ conversation, first }) => ({ conversation, message: first, item: 0, dismissed: true }),
  "message.star": ({ conversation, first }) => ({ conversation, message: first, starred: true }),
  "message.remove": ({ conversation, leaf }) => ({ conversation, message: leaf }),
  "message.restore": ({ conversation, leaf }) => ({ conversation, message: leaf }),
  "model.list": () => ({}),
  "model.use": ({ conversation }) => ({ conversation, model: "scripted/model" }),
  "approval.use": () => ({ mode: "ask" }),
  "equipment.read": () => ({}),
  "sandbox.read": () => ({}),
  "address.revoke": () => ({ address: "example.org" }),
  "file.find": () => ({ query: "a" }),
  "file.undo": ({ conversation, leaf, call }) => ({ conversation, leaf, call }),
  "file.compare": ({ conversation, leaf }) => ({ conversation, leaf }),
  "file.rewind": ({ conversation, leaf }) => ({ conversation, leaf, asOf: 0 }),
  "picture.read": () => ({ url: "https://example.com/a.png" }),
  "share.create": ({ conversation }) => ({ conversation }),
  "share.list": () => ({}),
  "share.revoke": () => ({ share: "none" }),
};

/** Commands that begin or continue a turn, or ask a model, and their answers while a turn waits for the user. */
const WHERE_A_TURN_WAITS: Partial<
  Record<CommandName, "done" | "Answer the question" | "An agent works" | "A turn is running">
> = {
  "turn.say": "done",
  "prompt.say": "done",
  "message.add": "done",
  "history.add": "A turn is running",
  "turn.retry": "done",
  "turn.resume": "An agent works",
  "branch.fan": "An agent works",
  "branch.compact": "An agent works",
  "branch.bring": "An agent works",
};
/** The answers while no process runs the waiting turn. */
const IN_THE_LOG: typeof WHERE_A_TURN_WAITS = {
  ...WHERE_A_TURN_WAITS,
  "history.add": "done",
  "turn.resume": "done",
  "branch.fan": "Answer the question",
  "branch.compact": "Answer the question",
  "branch.bring": "Answer the question",
};

/** The commands that end the question. */
const ENDS_IT: ReadonlySet<CommandName> = new Set(["conversation.remove", "run.interrupt", "question.answer"]);

const NAMES = Object.keys(commands) as CommandName[];

/** The answer to a command in a few words, or that no answer came. */
async function answerTo(client: TestClient, name: CommandName, input: object): Promise<string> {
  const id = client.send(name, input as never);
  const late = sleep(AT_ONCE, "no answer", { ref: false });
  const answer = client
    .outcome(id)
    .then((outcome) => (outcome.type === "done" ? "done" : `${outcome.error.code}: ${outcome.error.message}`));
  return Promise.race([answer, late]);
}

describe("F83: every command of the protocol answers while a user is asked", () => {
  test.each(["a process waits", "the log waits"] as const)("%s", async (who) => {
    const directory = temporaryDirectory();
    const places = new Map<CommandName, Here>();
    const before = withPrompt(await served(asking(), { directory }));
    const first = await TestClient.connect(before.server);
    const shared = await conversationAt(first, { waits: true });
    const isAlone = (name: CommandName) => name in IN_THE_LOG || name === "message.remove" || ENDS_IT.has(name);
    for (const name of NAMES) places.set(name, isAlone(name) ? await conversationAt(first, { waits: true }) : shared);
    if (who === "the log waits") await before[Symbol.asyncDispose]();
    await using site = who === "the log waits" ? withPrompt(await served(asking(), { directory })) : before;
    const expected = who === "the log waits" ? IN_THE_LOG : WHERE_A_TURN_WAITS;
    for (const name of NAMES) {
      const here = places.get(name) as Here;
      const client = await TestClient.connect(site.server);
      const answer = await answerTo(client, name, INPUTS[name](here));
      expect([name, answer]).not.toEqual([name, "no answer"]);
      if (expected[name]) expect([name, answer]).toEqual([name, expect.stringContaining(expected[name])]);
      if (!ENDS_IT.has(name)) {
        const { state } = await client.watch(here.conversation);
        expect([name, [...state.questions.keys()]]).toEqual([name, expect.arrayContaining([here.question])]);
      }
      client.socket.close();
    }
    expect(site.log).toEqual([]);
  });

  test("a command that begins a turn is answered once the log has the start, even if the turn asks a user", async () => {
    await using site = withPrompt(await served(asking(), { directory: temporaryDirectory() }));
    const client = await TestClient.connect(site.server);
    for (const name of ["turn.say", "prompt.say", "turn.retry", "turn.resume", "branch.fan"] as const) {
      const { conversation, leaf } = await conversationAt(client, { waits: false });
      if (name === "turn.resume") await client.ask("message.add", { conversation, parts: words("go"), at: leaf });
      const parts = name === "turn.retry" ? { parts: words("go") } : {};
      const here = { conversation, first: "", leaf, run: "", question: "", call: "" };
      expect([name, await answerTo(client, name, { ...INPUTS[name](here), ...parts })]).toEqual([name, "done"]);
      const state = client.mirrors.get(conversation)?.state;
      await client.until(() => state && state.questions.size > 0 && state.questions.size === state.runs.size);
    }
    expect(site.log).toEqual([]);
  });
});

/** The commands that clients send at the same moment. */
const RACES = {
  say: ({ conversation }) => ["turn.say", { conversation, parts: words("a") }],
  "say there": ({ conversation, leaf }) => ["turn.say", { conversation, parts: words("b"), at: leaf }],
  "say to a run": ({ conversation, run, first }) => ["turn.say", { conversation, parts: words("c"), run, at: first }],
  queue: ({ conversation }) => ["turn.say", { conversation, parts: words("d"), delivery: "queue" }],
  prompt: ({ conversation }) => ["prompt.say", { conversation, prompt: "port" }],
  add: ({ conversation }) => ["message.add", { conversation, parts: words("e") }],
  retry: ({ conversation }) => ["turn.retry", { conversation }],
  "retry there": ({ conversation, leaf }) => ["turn.retry", { conversation, at: leaf }],
  edit: ({ conversation, leaf }) => ["turn.retry", { conversation, at: leaf, parts: words("f") }],
  resume: ({ conversation }) => ["turn.resume", { conversation }],
  "resume there": ({ conversation, leaf }) => ["turn.resume", { conversation, at: leaf }],
  fan: ({ conversation }) => ["branch.fan", { conversation, parts: words("g"), times: 2, worktrees: false }],
  "fan above": ({ conversation, first }) => [
    "branch.fan",
    { conversation, parts: words("h"), times: 2, worktrees: false, at: first },
  ],
  compact: ({ conversation }) => ["branch.compact", { conversation }],
  bring: ({ conversation, first, leaf }) => ["branch.bring", { conversation, from: leaf, to: first }],
} satisfies Record<string, (here: Here) => readonly [CommandName, object]>;

const LONG = process.env.BANYAN_LONG === "1";

test(
  "F83: commands of one moment are answered while questions are open, and the tree stays whole",
  async () => {
    const directory = temporaryDirectory();
    const seed = Number(process.env.BANYAN_SEED ?? Date.now() % 2 ** 31);
    const race = fc.record({
      place: fc.constantFrom("at rest", "a process waits", "the log waits"),
      names: fc.array(fc.constantFrom(...(Object.keys(RACES) as (keyof typeof RACES)[])), {
        minLength: 2,
        maxLength: 5,
      }),
      /** The delay of each command: 0 for the same packet as the one before, otherwise turns of the event loop. */
      gaps: fc.array(fc.nat(12), { minLength: 5, maxLength: 5 }),
    });
    const races = fc.sample(race, { seed, numRuns: LONG ? 600 : 30 });
    const before = withPrompt(await served(asking(), { directory }));
    const places: Here[] = [];
    for (const { place } of races) {
      const client = await TestClient.connect(before.server);
      places.push(await conversationAt(client, { waits: place !== "at rest" }));
      client.socket.close();
    }
    const play = async ({ server }: Site, which: (place: string) => boolean) => {
      for (const [index, { place, names, gaps }] of races.entries()) {
        if (!which(place)) continue;
        // Each race has its own clients, because a server limits the command rate of a client.
        const [client, reader] = [await TestClient.connect(server), await TestClient.connect(server)];
        const here = places[index] as Here;
        const told = `seed ${seed}, race ${index}: ${place}, ${JSON.stringify({ names, gaps })}`;
        const answers: Promise<string>[] = [];
        for (const [nth, name] of names.entries()) {
          for (let gap = 0; gap < (gaps[nth] ?? 0); gap++) await new Promise(setImmediate);
          const [command, input] = RACES[name](here);
          answers.push(answerTo(client, command, input));
        }
        expect(await Promise.all(answers), told).not.toContain("no answer");
        expect(await problemsOf(client, reader, here.conversation), told).toEqual([]);
        for (const { socket } of [client, reader]) socket.close();
      }
    };
    await play(before, (place) => place !== "the log waits");
    await before[Symbol.asyncDispose]();
    await using after = withPrompt(await served(asking(), { directory }));
    await play(after, (place) => place === "the log waits");
    expect([...before.log, ...after.log]).toEqual([]);
  },
  60_000 * (LONG ? 15 : 1),
);

/** Interrupts all runs, and returns the faults of the log: none of the commands was an answer of a user. */
async function problemsOf(client: TestClient, reader: TestClient, conversation: string): Promise<string[]> {
  const mirror = await reader.watch(conversation);
  await client.ask("run.interrupt", { conversation });
  await reader.until(() => mirror.state.runs.size === 0 && mirror.state.waiting.size === 0);
  const { epoch, seq } = mirror.cursor;
  await reader.forget(conversation);
  await reader.ask("feed.subscribe", { conversation, from: { epoch, seq: 0, offset: 0 } });
  const log: Event[] = await reader.until(() => {
    const events = reader.items.filter(isEvent);
    return (events.at(-1)?.seq ?? 0) >= seq && events;
  });
  await reader.forget(conversation);
  const state = emptyConversation(conversation);
  for (const event of log) reduce(state, event);
  const answered = log.filter(({ type }) => type === "call.approval-resolved" || type === "call.executing");
  return [...checkConversation(state, log), ...answered.map(({ type }) => `Nobody answered, and there is ${type}.`)];
}
