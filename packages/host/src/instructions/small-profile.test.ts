import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, type Session, say } from "@banyan/core";
import { call, collect, type Scene, scriptedModel } from "@banyan/core/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { contextKnown } from "../drivers/drivers.ts";
import type { Host } from "../host/host.ts";
import { openHost } from "../host/open-host.ts";

let home: string;
let cwd: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-small-")));
  cwd = join(home, "project");
  mkdirSync(cwd);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function open(
  settings: object = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Host & AsyncDisposable> {
  const config = join(home, "own/config");
  mkdirSync(config, { recursive: true });
  const all = { sandbox: { enabled: "off" }, memory: { enabled: true }, model: "demo/offline", ...settings };
  writeFileSync(join(config, "settings.json"), JSON.stringify(all));
  const variables = { BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1", PATH: process.env.PATH ?? "", ...env };
  const host = await openHost({ cwd, home, flags: {}, canAsk: true, env: variables });
  return Object.assign(host, { [Symbol.asyncDispose]: () => host.close() });
}

/** The agent of a host in a turn, with a scripted model of this context size. */
function agentWith(host: Host, session: Session, contextSize: number, scenes: readonly Scene[] = ["Good."]) {
  const model = Object.assign(scriptedModel(scenes), { id: "local/m", contextSize });
  const agent = host.agent.with({ model, permission: () => ({ decision: "allow" }) });
  return { model, agent: host.informed(agent, session.state) };
}

async function notesOf(agent: Agent, session: Session): Promise<string[]> {
  const items = await collect(agent.chat(say("Go."), { session }));
  return items.flatMap((item) => (item.type === "request.changed" ? [item.reason] : []));
}

/** A server like llama.cpp's that records request bodies. */
async function llamaServer(window: number) {
  const bodies: { messages: object[]; tools: object[] }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.url?.startsWith("/props")) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ default_generation_settings: { n_ctx: window } }));
      return;
    }
    bodies.push(JSON.parse(body));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const finished = { id: "1", type: "function", function: { name: "finish_task", arguments: '{"result":"Done."}' } };
    const delta = body.includes('"finish_task"') ? { tool_calls: [{ index: 0, ...finished }] } : { content: "Good." };
    response.end(
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { bodies, address: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe("F69: the small profile", () => {
  test.each([
    [1_024, "chat", 0],
    [8_192, "chat", 60_000],
    [8_192, "task", 60_000],
    [4_096, "task", 500],
  ] as const)(
    "of a window of %i has a head of at most 4 kB as it is sent, in a %s, with %i bytes of instructions",
    async (window, mode, size) => {
      writeFileSync(join(home, "notes.md"), `Say "hello" to every \\ file.\n${"Ünd so weiter.\n".repeat(size / 15)}`);
      await using server = await llamaServer(window);
      const instructions = size === 0 ? [] : [join(home, "notes.md")];
      await using host = await open({ model: "llamacpp/m", instructions }, { LLAMACPP_BASE_URL: server.address });
      const session = await host.newSession();
      const agent = mode === "task" ? await host.taskAgent() : host.agent;
      await contextKnown(agent.options.model);
      await host.informed(agent, session.state).send("Go.", { session });
      const [{ messages: [head] = [], tools } = { messages: [], tools: [] }] = server.bodies;
      expect(head).toMatchObject({ role: "system" });
      expect(bytes(head) + bytes(tools)).toBeLessThanOrEqual(4_096);
      // The instructions are included as far as they fit.
      const told = JSON.stringify(head).includes('Say \\"hello\\" to every');
      expect(told).toBe(size > 0);
      if (size > 5_000) expect(bytes(head) + bytes(tools)).toBeGreaterThan(4_000);
      await session.close();
    },
  );

  test("is that of a window of 8,192 tokens and less, whichever model is taken", async () => {
    await using host = await open();
    const session = await host.newSession();
    const sizes = [8_193, 8_192, 200_000, 2_000].map((contextSize) => {
      const { instructions, tools = [] } = agentWith(host, session, contextSize).agent.options;
      return [instructions?.startsWith("You work with a small context."), tools.some(({ unlisted }) => unlisted)];
    });
    expect(sizes).toEqual([
      [false, false],
      [true, true],
      [false, false],
      [true, true],
    ]);
    await session.close();
  });

  test.each([
    ["full", 4_096],
    ["small", 200_000],
  ] as const)("is overruled by the setting profile: %s", async (profile, contextSize) => {
    await using host = await open({ models: { "local/m": { profile } } });
    const session = await host.newSession();
    const { instructions } = agentWith(host, session, contextSize).agent.options;
    expect(instructions?.startsWith("You work with a small context.")).toBe(profile === "small");
    await session.close();
  });

  test("notifies the user once in a conversation, also after a restart, with the parts left out", async () => {
    writeFileSync(join(home, "notes.md"), "Be kind to animals. ".repeat(500));
    const instructions = [join(home, "notes.md")];
    const host = await open({ instructions });
    const session = await host.newSession();
    const { id } = session.state;
    const first = await notesOf(agentWith(host, session, 4_096).agent, session);
    expect(first).toEqual([
      `local/m has a context of 4,096 tokens, so it gets short instructions and few tools, and searches for other tools. Some instructions are left out (${instructions[0]}). To send everything, set "profile": "full" for this model under "models" in settings.json.`,
    ]);
    expect(await notesOf(agentWith(host, session, 4_096).agent, session)).toEqual([]);
    await session.close();
    await host.close();
    await using later = await open({ instructions });
    const again = await later.openById(id);
    expect(await notesOf(agentWith(later, again, 4_096).agent, again)).toEqual([]);
    await again.close();
  });

  test("begins all requests of a conversation with the same bytes, and changes no request of a larger model", async () => {
    await using host = await open();
    const session = await host.newSession();
    const heads: string[] = [];
    for (const contextSize of [4_096, 4_096, 200_000, 4_096, 200_000]) {
      const { agent, model } = agentWith(host, session, contextSize);
      await agent.send("Go.", { session });
      heads.push(JSON.stringify([model.requests[0]?.instructions, model.requests[0]?.tools]));
    }
    expect(new Set([heads[0], heads[1], heads[3]]).size).toBe(1);
    expect(heads[2]).toBe(heads[4]);
    expect(heads[2]).not.toBe(heads[0]);
    await session.close();
  });

  test("has only tools that work: the listed ones, and the others by call_tool", async () => {
    await using host = await open();
    const session = await host.newSession();
    const { agent, model } = agentWith(host, session, 4_096, [
      [
        call("write", { path: "a.txt", content: "one\ntwo\n" }),
        call("read", { path: "a.txt", start: 2 }),
        call("list", {}),
        call("search", { pattern: "tw." }),
        call("edit", { path: "a.txt", old_text: "two", new_text: "three" }),
        call("shell", { command: "cat a.txt" }),
        call("find_tools", { query: "put down a plan" }),
        call("call_tool", { tool: "update_plan", input: { steps: [{ title: "Go", status: "pending" }] } }),
        call("read", { path: 7 }),
      ],
      "Done.",
    ]);
    await agent.send("Go.", { session });
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\nthree\n");
    const listed = model.requests[0]?.tools.map(({ name }) => name);
    expect(listed).toEqual(["read", "list", "search", "write", "edit", "shell", "find_tools", "call_tool"]);
    const last = model.requests[1]?.messages.at(-1);
    const results = last?.role === "assistant" ? last.results : [];
    expect(results.map(({ failed }) => failed)).toEqual([...Array.from({ length: 8 }, () => false), true]);
    expect(results.at(-1)?.output).toMatch(/^The arguments of "read" do not match its schema: at path/);
    const [found = ""] = results[6]?.output.split("\n") ?? [];
    expect(JSON.parse(found)).toMatchObject({ name: "update_plan" });
    expect(Buffer.byteLength(results[6]?.output ?? "")).toBeLessThan(4_000);
    await session.close();
  });

  test("of a user-defined sub-agent has the instructions of its definition", async () => {
    await using host = await open();
    const session = await host.newSession();
    const model = Object.assign(scriptedModel(["Good."]), { contextSize: 4_096 });
    const named = host.agent.with({ name: "poet", instructions: "Write in rhymes.", model, memory: undefined });
    const { instructions = "", tools = [] } = host.informed(named, session.state).options;
    expect(instructions).toContain("# Instructions from the agent poet\n\nWrite in rhymes.");
    expect(tools.filter(({ unlisted }) => !unlisted).length).toBeLessThan(10);
    await session.close();
  });

  test("appears in /context part by part", async () => {
    await using server = await llamaServer(4_096);
    await using host = await open({ model: "llamacpp/m" }, { LLAMACPP_BASE_URL: server.address });
    const session = await host.newSession();
    const parts = await host.contextParts(session.state, null);
    expect(parts.flatMap(({ kind, source }) => (kind === "instructions" ? [source] : []))).toEqual(["small profile"]);
    expect(parts.filter(({ kind }) => kind === "tool")).toHaveLength(8);
    await session.close();
  });
});
