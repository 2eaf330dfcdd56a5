import { PassThrough, Readable, Writable } from "node:stream";
import { setImmediate as nextTick } from "node:timers/promises";
import { methods, ndJsonStream } from "@agentclientprotocol/sdk/unstable";
import { Agent, type ModelDriver, Session } from "@banyan/core";
import { Client } from "@banyan/protocol/client";
import { serveAcp } from "@banyan/server/acp";
import { Desk, type ServedHost } from "@banyan/server/desk";
import { memoryStore } from "@banyan/store/memory";
import { cpuTime, type Measure } from "../measure.ts";

/** Fragments of one long answer, each in a turn of the event loop of its own, as from a socket. */
const FRAGMENTS = 20_000;
/** Turns whose answer is one word. */
const TURNS = 300;
const WORKSPACE = process.cwd();

/** Somebody who watches a conversation that the desk works in. */
interface Watcher {
  /** Says something; resolves when the turn has ended. */
  say(): Promise<void>;
}

const subjects: Readonly<Record<string, (desk: Desk) => Promise<Watcher>>> = {
  "a client in the process": async (desk) => {
    const own = new Client(desk.link({ shares: true }));
    const { conversation } = await own.ask("conversation.create", {});
    const watched = await own.watch(conversation).loaded;
    return {
      async say() {
        const { promise, resolve } = Promise.withResolvers<void>();
        const stop = watched.follow({ item: (item) => item.type === "run.ended" && resolve() });
        await own.ask("turn.say", { conversation, parts: [{ type: "text", text: "Go on." }] });
        await promise;
        stop();
      },
    };
  },
  "an editor at the door": async (desk) => {
    const [there, back] = [new PassThrough(), new PassThrough()];
    serveAcp(ndJsonStream(Writable.toWeb(back), webOf(there)), {
      version: "1.0",
      cwd: WORKSPACE,
      async open(_where, events) {
        const own = new Client(desk.link({ shares: true }), events);
        await own.connected();
        const commands = { list: async () => [], run: async () => undefined };
        return { client: own, workspace: WORKSPACE, notices: [], commands, close: (id) => desk.close(id) };
      },
    });
    // What an editor does with a frame is its own: here each is read as bytes, and answers alone are parsed.
    let answered = (_line: string): void => {};
    let rest = "";
    back.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.includes('"id":')) answered(line);
    });
    let id = 0;
    const ask = (method: string, params: object) =>
      new Promise<string>((resolve) => {
        const asked = ++id;
        answered = (line) => line.includes(`"id":${asked},`) && resolve(line);
        there.write(`${JSON.stringify({ jsonrpc: "2.0", id: asked, method, params })}\n`);
      });
    await ask(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    const begun = await ask(methods.agent.session.new, { cwd: WORKSPACE, mcpServers: [] });
    const { sessionId } = JSON.parse(begun).result;
    return {
      async say() {
        const prompt = [{ type: "text", text: "Go on." }];
        const answer = await ask(methods.agent.session.prompt, { sessionId, prompt });
        if (!answer.includes("end_turn")) throw new Error(`The turn ended with ${answer}.`);
      },
    };
  },
};

export const editor: Measure = {
  name: "editor",
  what: "what the door for editors (ACP) adds to a delta of an answer of 20,000, and to each of 300 short turns, to a desk in the process",
  subjects: Object.keys(subjects),
  bounds: ["a client in the process"],
  figures: [
    { name: "CPU per delta", unit: "µs" },
    { name: "CPU per turn", unit: "µs" },
  ],
  rounds: 3,
  async run(subject) {
    const begin = subjects[subject];
    if (!begin) throw new Error(`There is no subject "${subject}".`);
    let fragments = 1;
    const store = memoryStore();
    const agent = new Agent({ model: speaking(() => fragments) });
    await using desk = new Desk({ host: hostOf(agent, store) });
    const watcher = await begin(desk);
    // Compiled, and what is loaded late is there.
    for (let turn = 0; turn < TURNS / 3; turn++) await watcher.say();
    const before = cpuTime();
    for (let turn = 0; turn < TURNS; turn++) await watcher.say();
    const turns = cpuTime() - before;
    fragments = FRAGMENTS;
    const beforeLong = cpuTime();
    await watcher.say();
    const deltas = cpuTime() - beforeLong;
    return { "CPU per delta": (deltas * 1_000) / FRAGMENTS, "CPU per turn": (turns * 1_000) / TURNS };
  },
};

function speaking(fragments: () => number): ModelDriver {
  return {
    id: "bench/model",
    family: "bench",
    async stream(_request, sink) {
      for (let said = 0; said < fragments(); said++) {
        sink.push([{ type: "text", text: "word " }]);
        await nextTick();
      }
      const usage = { input: 1, cached: 0, cacheWrite: 0, output: 1, reasoning: 0 };
      sink.push([{ type: "finish", reason: "stop", usage }]);
    },
  };
}

function hostOf(agent: Agent, store: ReturnType<typeof memoryStore>): ServedHost {
  return {
    ...{ agent, store, workspace: WORKSPACE, approval: "ask", unasked: [], model: { name: "bench/model" } },
    redact: (text: string) => text,
    ready: async () => ({}),
    listProviders: async () => [],
    newSession: (id?: string) => Session.open(store, id, { create: true }),
    openById: (id: string) => Session.open(store, id),
  } as unknown as ServedHost;
}

function webOf(pipe: PassThrough): ReadableStream<Uint8Array> {
  return Readable.toWeb(pipe) as ReadableStream<Uint8Array>;
}
