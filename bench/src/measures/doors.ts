import { PassThrough, Readable, Writable } from "node:stream";
import { setImmediate as nextTick } from "node:timers/promises";
import { methods, ndJsonStream } from "@agentclientprotocol/sdk/unstable";
import { Client } from "@banyan/client";
import { connect } from "@banyan/client/node";
import { createId, type ModelDriver } from "@banyan/core";
import { Desk } from "@banyan/desk";
import { serve } from "@banyan/server";
import { serveAcp } from "@banyan/server/acp";
import { hostOf } from "@banyan/server/testing";
import { memoryStore } from "@banyan/store/memory";
import { cpuTime, type Measure } from "../measure.ts";

/** Fragments of one long answer, each in its own turn of the event loop, like from a socket. */
const FRAGMENTS = 20_000;
/** Turns with an answer of one word. */
const TURNS = 300;
const WORKSPACE = process.cwd();
const TOKEN = "a-token-of-a-measure-0123456789-0123456789";

/** A client of a server interface. */
interface Visitor extends AsyncDisposable {
  /** Sends a message; resolves when the turn has ended. */
  say(): Promise<void>;
}

type Host = ReturnType<typeof hostOf>["host"];

const subjects: Readonly<Record<string, (host: Host) => Promise<Visitor>>> = {
  "a client in the process": async (host) => {
    const desk = new Desk({ host });
    return { ...(await client(new Client(desk.link({ shares: true })))), [Symbol.asyncDispose]: () => desk.stop() };
  },
  "an editor at the door": async (host) => {
    const desk = new Desk({ host });
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
    // The cost of an editor's own work is not ours: read each frame as bytes, and parse only responses.
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
      [Symbol.asyncDispose]: () => desk.stop(),
    };
  },
  "a client of the socket": async (host) => {
    const server = await serve({ host, token: TOKEN });
    const own = await connect({ address: server.address, token: TOKEN, client: "a measure" });
    return { ...(await client(own)), [Symbol.asyncDispose]: () => server.stop() };
  },
  "/v1/chat/completions": (host) =>
    reader(host, "/v1/chat/completions", "[DONE]", () => {
      return { model: "banyan", stream: true, messages: [{ role: "user", content: "Go on." }] };
    }),
  "/v1/responses": (host) =>
    reader(host, "/v1/responses", '"output_tokens"', () => ({ model: "banyan", stream: true, input: "Go on." })),
  "/api/chat": (host) =>
    reader(host, "/api/chat", "[DONE]", () => {
      const parts = [{ type: "text", text: "Go on." }];
      return { id: createId(), messages: [{ id: createId(), role: "user", parts }] };
    }),
  "/api/ag-ui": (host) =>
    reader(host, "/api/ag-ui", "RUN_FINISHED", () => {
      const messages = [{ id: createId(), role: "user", content: "Go on." }];
      return { threadId: createId(), runId: createId(), messages, tools: [], context: [] };
    }),
};

/** A client of Banyan's protocol that watches a conversation. */
async function client(own: Client) {
  await own.connected();
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
}

/** A client that reads an address's stream as bytes, without further work, and starts a conversation for each turn. */
async function reader(host: Host, path: string, last: string, body: () => object): Promise<Visitor> {
  const server = await serve({ host, token: TOKEN });
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  return {
    async say() {
      const answer = await fetch(`${server.address}${path}`, { method: "POST", headers, body: JSON.stringify(body()) });
      let end = "";
      for await (const piece of answer.body ?? []) end = Buffer.from(piece).toString("latin1").slice(-2_000);
      if (!end.includes(last)) throw new Error(`${path} ended with ${end}.`);
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

export const doors: Measure = {
  name: "doors",
  what: "what a door adds to a delta of an answer of 20,000, and to each of 300 short turns, to a client of a desk in the process",
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
    const { host } = hostOf(memoryStore(), { model: speaking(() => fragments) }, {}, WORKSPACE);
    await using visitor = await begin(host);
    // Warm up: code is compiled and lazy modules are loaded.
    for (let turn = 0; turn < TURNS / 3; turn++) await visitor.say();
    const before = cpuTime();
    for (let turn = 0; turn < TURNS; turn++) await visitor.say();
    const turns = cpuTime() - before;
    fragments = FRAGMENTS;
    const beforeLong = cpuTime();
    await visitor.say();
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

function webOf(pipe: PassThrough): ReadableStream<Uint8Array> {
  return Readable.toWeb(pipe) as ReadableStream<Uint8Array>;
}
