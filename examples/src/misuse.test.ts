import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool, launchAgent, Session, type Store, say, type Tool } from "@banyan/core";
import { call, recorded, scriptedModel } from "@banyan/core/testing";
import { openHost } from "@banyan/host";
import { sqliteMemory } from "@banyan/memory";
import { anthropicMessages, embeddingModel, openAIChat, resolveModel } from "@banyan/models";
import { handler, serve } from "@banyan/server";
import { memoryStore } from "@banyan/store/memory";
import { sqliteStore } from "@banyan/store/sqlite";
import { workspaceTools } from "@banyan/tools/workspace";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";

/** Values that untyped programs may pass. */
const wrong = (value: unknown) => value as never;
const model = scriptedModel(() => "Hello.");
const agent = new Agent({ model });
const tool: Tool = {
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  effects: "none",
  execute: () => "seen",
};
const withTool = (changes: object) => new Agent({ model, tools: [{ ...tool, ...changes }] });
const send = (options: object) => new Agent({ model, ...options }).send("Hello");

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), "misuse-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function closedSession(): Promise<Session> {
  const session = Session.inMemory();
  await session.close();
  return session;
}

/** The classes of misuse. Each row: the wrong call, and what its refusal says. */
const CLASSES: Readonly<Record<string, Readonly<Record<string, readonly [() => unknown, string]>>>> = {
  "a misspelt option": {
    "of an agent": [() => send({ instruction: "Be brief." }), "did you mean instructions?"],
    "of a chat": [() => agent.chat(say("Hello"), wrong({ sesion: 1 })), "did you mean session?"],
    "of a tool": [() => defineTool(wrong({ ...tool, exekute: 1 })), "did you mean execute?"],
    "of a driver": [() => openAIChat(wrong({ baseUrl: "http://127.0.0.1:1" })), "did you mean baseURL?"],
    "of a store": [() => sqliteStore(wrong({ directry: "x" })), "did you mean directory?"],
    "of a server": [() => handler(agent, wrong({ stor: 1 })), "did you mean store?"],
    "of a list": [() => memoryStore().list(wrong({ label: {} })), "did you mean labels?"],
    "of a list in SQLite": [() => inSqlite((store) => store.list(wrong({ limt: 1 }))), "did you mean limit?"],
    "of a search": [() => memoryStore().search("tree", wrong({ limits: 1 })), "did you mean limit?"],
    "of an opened log": [() => memoryStore().open("a", wrong({ creat: true })), "did you mean create?"],
  },
  "a missing option": {
    "all of an agent": [() => new Agent(wrong(undefined)), "An agent needs a model: new Agent({ model })."],
    "the session of an answer": [
      () => agent.answer("1", { decision: "allow" }, wrong({})),
      "The option session of answer",
    ],
    "the description of a tool": [
      () => withTool({ description: undefined }),
      'description of the tool "look" is missing',
    ],
    "the instructions of a named agent": [
      () => launchAgent(wrong({ agents: [{ name: "a", description: "b" }] })),
      "The option agents[0].instructions of launchAgent is missing; it must be a string.",
    ],
    "the directory of a store": [() => sqliteStore(wrong(undefined)), "The option directory of sqliteStore is missing"],
    "the id of a driver": [
      () => anthropicMessages(wrong({ model: "m" })),
      "The option id of anthropicMessages is missing",
    ],
    "the file of a memory": [() => sqliteMemory(wrong({})), "The option file of sqliteMemory is missing"],
    "the folder of tools": [() => workspaceTools(wrong({})), "The option root of workspaceTools is missing"],
    "the folder of a host": [() => openHost(wrong({})), "The option cwd of openHost is missing"],
    "the store of a server": [() => serve(agent, wrong({})), "`store` is missing"],
    "the work of a held branch": [
      () => Session.inMemory().hold(null, wrong(undefined)),
      "work of session.hold must be a function, not undefined.",
    ],
    "the answer to a question": [
      () => Session.inMemory().answer("1", wrong(undefined)),
      'An answer must be an object, such as { decision: "deny" }, not undefined.',
    ],
    "the model of a recording": [() => recorded("a.json", wrong(undefined)), "a function that makes the model"],
  },
  "a value of the wrong type": {
    "instructions that are a list": [() => send({ instructions: ["a"] }), "must be a string, not a list."],
    "a permission that is a word": [() => send({ permission: "ask" }), "must be a function, not a string."],
    "a callback that is true": [() => send({ callbacks: { onCall: true } }), "callbacks.onCall of an agent must be"],
    "an output that is a word": [() => send({ output: "trip" }), "output must be a schema, such as z.object("],
    "a promise in place of labels": [
      () => Session.open(memoryStore(), "a", wrong({ labels: Promise.resolve({}) })),
      "labels of a session must be an object, not a promise: await it.",
    ],
    "a delivery that does not exist": [
      () => Session.inMemory().say("Hello", wrong({ delivery: "now" })),
      '"steer", "queue"',
    ],
    "the timeout of a tool": [() => withTool({ timeout: "5" }), "must be a number, not a string."],
    "the subject of a tool": [() => withTool({ about: "mail" }), "must be a function, not a string."],
    "an effort that does not exist": [
      () => send({ settings: { effort: "huge" } }),
      'settings.effort is "huge"; it must be one of "none", "minimal", "low"',
    ],
    "a promise of options": [
      () => send(wrong({ retry: Promise.resolve({}) })),
      "retry of an agent must be an object, not a promise: await it.",
    ],
    "no change of an input": [
      () => Session.inMemory().editInput("1", wrong(undefined)),
      "change of session.editInput must be an object, not undefined.",
    ],
    "a title that is a number": [
      () => Session.inMemory().notes.rename(wrong(5)),
      "title of notes.rename must be a string, not a number.",
    ],
    "no usage": [() => Session.inMemory().notes.usage(wrong(undefined)), "spent of notes.usage must be an object"],
    "a rule that is no text": [
      () => Session.inMemory().revoke(wrong({})),
      "pattern of session.revoke must be a string, not an object.",
    ],
    "no changes of an agent": [
      () => agent.with(wrong(undefined)),
      "changes of agent.with must be an object, not undefined.",
    ],
    "a session of a summary that is none": [
      () => agent.compact(wrong({ session: {} })),
      "The session of compact must be a Session, not an object; Session.open() returns a promise",
    ],
    "no tool in a list": [
      () => Agent.builder().model(model).tools(wrong(undefined)).build(),
      "A tool must be an object",
    ],
    "a file of a recording that is none": [
      () => recorded(wrong({}), () => model),
      "file of recorded must be a string, not an object.",
    ],
    "a cursor that is a text": [
      () => Session.inMemory().feed(wrong({ from: "x" })),
      "from of session.feed must be an object, not a string.",
    ],
    "half of a cursor": [
      () => Session.inMemory().feed(wrong({ from: { seq: 1 } })),
      "The option from.epoch of session.feed is missing; it must be a number.",
    ],
    "a search that is no text": [
      () => memoryStore().search(wrong(undefined)),
      "query of store.search must be a string, not undefined.",
    ],
    "agents that are no list": [() => launchAgent(wrong({ agents: {} })), "must be a list, not an object."],
    "a directory that is an address": [
      () => sqliteStore(wrong({ directory: new URL("file:///a") })),
      "must be a string",
    ],
    "the port of a server": [
      () => serve(agent, wrong({ store: memoryStore(), port: "80" })),
      "must be a number, not a string.",
    ],
    "a rule of a server that is true": [
      () => handler(agent, wrong({ store: memoryStore(), authorize: true })),
      "authorize of handler must be a function, not a boolean.",
    ],
    "a name of an embedding model": [() => embeddingModel(wrong(5)), "must be a string"],
    "a name of a model": [() => resolveModel(wrong(5)), 'must be a string, such as "openai/gpt-5"'],
    "a script that is a text": [() => scriptedModel(wrong("Hello.")), 'a list of responses, such as ["Hello."]'],
  },
  "a tool without effects": {
    "in an agent": [
      () => withTool({ effects: undefined }),
      'must declare its effects: "none", "idempotent" or "external".',
    ],
    "in defineTool": [
      () => defineTool(wrong({ ...tool, effects: undefined })),
      'The tool "look" must declare its effects: "none", "idempotent" or "external".',
    ],
  },
  "two tools with one name": {
    "in an agent": [
      () => new Agent({ model, tools: [tool, { ...tool }] }),
      'Two tools have the name "look"; rename one.',
    ],
  },
  "an agent or a session after its end": {
    "a turn": [async () => agent.send("Hello", { session: await closedSession() }), "This session is closed; open the"],
    "a message": [async () => (await closedSession()).say("Hello"), "This session is closed; open the"],
    "a feed": [
      async () => (await closedSession()).feed().next(),
      "This session is closed; open the conversation again.",
    ],
    "a fact": [async () => (await closedSession()).add("Hello"), "This session is closed; open the"],
    "a served agent": [
      async () => {
        const served = handler(agent, { store: memoryStore(), authorize: () => true });
        await served.close();
        const asked = await served.fetch(new Request("http://127.0.0.1/api/chat", { method: "POST", body: "{}" }));
        if (asked.status < 400) return asked;
        throw new Error(JSON.parse(await asked.text()).error.message);
      },
      "This handler is closed.",
    ],
    "a chat that was read": [
      async () => {
        const chat = agent.chat(say("Hello"));
        await chat.turn;
        for await (const _ of chat);
      },
      "chat.turn already runs this chat",
    ],
  },
  "two writers": {
    "of one store": [
      async () => {
        const store = sqliteStore({ directory: folder() });
        await using _ = { [Symbol.asyncDispose]: () => store.close() };
        await using first = await Session.open(store, "a", { create: true });
        await Session.open(store, first.id);
      },
      "Conversation a is already open in this process",
    ],
    "of two stores": [
      async () => {
        const directory = folder();
        const [one, other] = [sqliteStore({ directory }), sqliteStore({ directory })];
        await using _ = { [Symbol.asyncDispose]: () => one.close() };
        await using first = await Session.open(one, "a", { create: true });
        await first.add("Hello");
        await Session.open(other, first.id);
      },
      "close the conversation there or end that process, then try again.",
    ],
  },
  "a store that is not open": {
    SQLite: [
      async () => {
        const store = sqliteStore({ directory: folder() });
        await store.close();
        await Session.open(store);
      },
      "The store is closed; create a new store.",
    ],
    "in memory": [
      async () => {
        const store = memoryStore();
        await store.close();
        await store.list();
      },
      "The store is closed; create a new store.",
    ],
    "below a session": [
      async () => {
        const store = sqliteStore({ directory: folder() });
        const session = await Session.open(store);
        await store.close();
        await agent.send("Hello", { session });
      },
      "is closed; open the conversation again to continue.",
    ],
    "a promise of a store": [() => Session.open(wrong(Promise.resolve(memoryStore()))), "a promise: await it"],
  },
  "a schema that no provider takes": {
    "a date": [() => withTool({ input: z.object({ on: z.date() }) }), 'The schema of tool "look" cannot be sent'],
    "a text": [() => withTool({ input: z.string() }), 'schema of tool "look" must describe an object.'],
    none: [() => withTool({ input: undefined }), "needs an input schema: a JSON Schema of an object, or a Standard"],
    "a result": [() => send({ output: z.map(z.string(), z.string()) }), "schema of output cannot be sent"],
  },
  "a handler that returns nothing usable": {
    "a text": [() => readWith(() => "again"), "A turn handler must return agent.chat(...) or nothing."],
    "an agent": [() => readWith(() => agent), "A turn handler must return agent.chat(...) or nothing."],
    "a turn": [() => readWith(() => agent.send("More")), "A turn handler must return agent.chat(...) or nothing."],
    "a chat of another session": [
      () => readWith(() => agent.chat(say("More"), { session: Session.inMemory() })),
      "Return agent.chat(...) without a session",
    ],
  },
  "a permission that decides nothing": {
    nothing: [() => sendCall({ permission: () => {} }), '"ask" or "deny"; it returned undefined.'],
    "an unknown word": [
      () => sendCall({ permission: () => ({ decision: "yes" }) }),
      'permission must return { decision: "allow" }, "ask" or "deny"; it returned the decision "yes".',
    ],
    "a hook that returns a word": [
      () => sendCall({ hooks: { beforeCall: () => "deny" } }),
      'hooks.beforeCall must return { decision: "allow" }, "ask" or "deny"; it returned a string.',
    ],
    "a hook about questions that returns true": [
      () => sendCall({ permission: () => ({ decision: "ask" }), hooks: { beforeQuestion: () => true } }),
      "hooks.beforeQuestion must return",
    ],
  },
  "an option without effect": {
    "a proxy outside of Node": [
      () => {
        vi.stubGlobal("navigator", { userAgent: "Bun/1.3" });
        onTestFinished(() => {
          vi.unstubAllGlobals();
        });
        openAIChat({ id: "a/b", model: "b", baseURL: "http://127.0.0.1:1", proxy: { http: "http://127.0.0.1:2" } });
      },
      "proxy of the model a/b works only on Node: use the proxy settings of this runtime",
    ],
  },
  "a limit that is negative or unknown": {
    steps: [() => send({ limits: { steps: -1 } }), "limits.steps is -1; it must be a positive whole number."],
    cost: [() => send({ limits: { cost: -1 } }), "limits.cost is -1; it must be a positive number."],
    time: [() => send({ limits: { time: Number.NaN } }), "limits.time is NaN; it must be a positive number."],
    "a misspelt limit": [() => send({ limits: { token: 1 } }), "did you mean limits.tokens?"],
    "an unknown limit": [() => send({ limits: { dollars: 1 } }), "the options are steps, tokens, cost, time, depth"],
    "calls at once": [() => send({ callsAtOnce: 0 }), "callsAtOnce is 0; it must be a positive whole number."],
  },
};

function sendCall(options: object) {
  return new Agent({ model: scriptedModel([[call("look")], "Seen."]), tools: [tool], ...options }).send("Hello");
}

async function inSqlite<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = sqliteStore({ directory: folder() });
  await using _ = { [Symbol.asyncDispose]: () => store.close() };
  return await work(store);
}

async function readWith(onTurn: () => unknown): Promise<void> {
  for await (const _ of new Agent({ model, onTurn: wrong(onTurn) }).chat(say("Hello")));
}

describe.each(Object.entries(CLASSES))("L11: %s is refused in one sentence", (_, cases) => {
  test.each(Object.entries(cases))("%s", async (_, [misuse, words]) => {
    const error = await (async () => misuse())().then(
      () => expect.unreachable("The call was accepted."),
      (error: unknown) => error,
    );
    expect(error).toBeInstanceOf(Error);
    const { message } = error as Error;
    expect(message).toContain(words);
    // An error of another program, such as "Cannot read properties of undefined", would end without a full stop.
    expect(message).toMatch(/^\S.*[.?]$/);
  });
});
