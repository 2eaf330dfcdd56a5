import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type McpServer, methods } from "@agentclientprotocol/sdk/unstable";
import { expect, onTestFinished, test, vi } from "vitest";
import { banyan, home, start } from "../testing/banyan.ts";
import { editor, endOf } from "../testing/editor.ts";
import { modelServer, shell, write } from "../testing/model-server.ts";
import { connected, serving, until } from "../testing/serving.ts";

const { session } = methods.agent;
const eventually = (look: () => unknown) => vi.waitFor(look, { timeout: 60_000, interval: 50 });
const MODEL = ["--model", "openai-compatible/test"];

test("A6, A7: an editor alone: files are changed in the directory that it names, with their diffs; standard output holds frames alone, and the process ends with its input", async () => {
  using place = home();
  const long = "It is white, ".repeat(200);
  await using model = await modelServer(
    ...[write("notes.txt", "milk\n"), { text: "Written." }],
    ...[long, "Cold.", "Sweet.", "It was said: milk is white."].map((text) => ({ text })),
    shell("sleep 60"),
  );
  const at = await editor(place, MODEL, { env: model.env });
  const other = join(place.workspace, "other");
  mkdirSync(other);
  const { sessionId } = await at.agent.request(session.new, { cwd: other, mcpServers: [] });
  expect(await at.say(sessionId, "write it")).toEqual({ stopReason: "end_turn" });
  expect(readFileSync(join(other, "notes.txt"), "utf8")).toBe("milk\n");
  const ended = at.updates
    .map(({ update }) => update)
    .findLast((update) => update.sessionUpdate === "tool_call_update");
  expect(ended).toMatchObject({
    status: "completed",
    content: [{ type: "diff", path: join(other, "notes.txt"), oldText: null, newText: "milk\n" }, {}],
    locations: [{ path: join(other, "notes.txt"), line: 1 }],
  });
  await at.say(sessionId, "/tree");
  expect(at.said).toContain("#1   you");
  for (const question of ["what is it like?", "and?", "and?"]) await at.say(sessionId, question);
  expect(await at.say(sessionId, "/compact the colour")).toEqual({ stopReason: "end_turn" });
  expect(JSON.stringify(model.asked.at(-1)?.at(-1))).toContain("the colour");
  // An editor without support for summaries gets messages about the start, the result and the end.
  const told = JSON.stringify(at.updates);
  expect(told).toMatch(
    /Compacting the conversation.*Compacted \d+ messages: .* original messages stay in the conversation.*Compacted \d+ messages: /,
  );
  expect(told).not.toContain("Ctrl-C");
  await expect(
    at.agent.request(session.load, { sessionId, cwd: place.workspace, mcpServers: [] }),
  ).rejects.toMatchObject({ code: -32_602 });
  // The same folder by other paths, and a session without messages.
  symlinkSync(other, `${other}-link`);
  for (const cwd of [`${other}/`, `${other}-link`]) {
    await at.agent.request(session.close, { sessionId });
    await at.agent.request(session.load, { sessionId, cwd, mcpServers: [] });
  }
  const { sessionId: unused } = await at.agent.request(session.new, { cwd: other, mcpServers: [] });
  await at.agent.request(session.close, { sessionId: unused });
  await at.agent.request(session.load, { sessionId: unused, cwd: other, mcpServers: [] });

  // The pipe closes while a command runs.
  at.say(sessionId, "sleep").catch(() => {});
  await eventually(() => expect(JSON.stringify(at.updates)).toContain("shell: sleep 60"));
  at.running.stdin.end();
  expect(await endOf(at.running)).toBe(0);
  expect(at.strays).toEqual([]);
  const { stdout } = await banyan(place, ["conversations", "list", "--all", "-o", "json"]);
  expect(JSON.parse(stdout)).toHaveLength(1);
});

test("C18: an editor says a command of a file with what is attached, and paths as they are; an unknown command asks no model", async () => {
  using place = home();
  await using model = await modelServer({ text: "Done." });
  const commands = join(place.env.BANYAN_HOME ?? "", "config", "commands");
  mkdirSync(commands, { recursive: true });
  writeFileSync(join(commands, "assess.md"), "Assess $1.");
  writeFileSync(join(commands, "odd.md"), "---\ndescription: one: two\n---\nOdd.");
  mkdirSync(join(commands, "git"));
  writeFileSync(join(commands, "git", "commit.md"), "Commit $1.");
  const at = await editor(place, MODEL, { env: model.env });
  const { sessionId } = await at.agent.request(session.new, { cwd: place.workspace, mcpServers: [] });
  // C19: notices of the file parser and commands in folders reach the editor.
  await eventually(() => expect(at.said).toContain("it was read line by line"));
  expect(JSON.stringify(at.updates)).toContain('"name":"git:commit"');
  await at.say(sessionId, "/asess it");
  expect(at.said).toContain("There is no command /asess. Did you mean /assess?");
  await at.say(sessionId, "/keys");
  expect(at.said).toContain("/keys works only in a terminal on the agent's machine.");
  expect(model.asked).toEqual([]);
  await at.say(sessionId, "/usr/bin/env is missing");
  expect(model.asked.at(-1)?.at(-1)?.content).toBe("/usr/bin/env is missing");
  await at.say(sessionId, "/tmp is full");
  expect(model.asked.at(-1)?.at(-1)?.content).toBe("/tmp is full");
  const resource = { uri: "file:///notes.md", mimeType: "text/markdown", text: "See @a.txt" };
  await at.agent.request(session.prompt, {
    sessionId,
    prompt: [
      { type: "text", text: "/assess it" },
      { type: "resource", resource },
    ],
  });
  const said = JSON.stringify(model.asked.at(-1)?.at(-1)?.content);
  expect(said).toContain("Assess it.");
  expect(said).toContain("See @a.txt");
  await at.say(sessionId, "/git:commit all");
  expect(model.asked.at(-1)?.at(-1)?.content).toBe("Commit all.");
  at.running.stdin.end();
});

test("A7: the program ends on request", async () => {
  using place = home();
  const told = await editor(place, ["--model", "demo/offline"]);
  await told.agent.request(session.new, { cwd: place.workspace, mcpServers: [] });
  told.running.kill("SIGTERM");
  expect(await endOf(told.running)).toBe(143);
});

test("A8: a faulty frame gets the protocol's error, and the connection continues; a frame that is too large ends the connection", async () => {
  using place = home();
  const running = start(place, ["acp", "--model", "demo/offline"]);
  onTestFinished(() => void running.kill("SIGKILL"));
  running.stdin.on("error", () => {});
  const answers = createInterface({ input: running.stdout })[Symbol.asyncIterator]();
  const ask = async (line: string) => {
    running.stdin.write(`${line}\n`);
    return JSON.parse(String((await answers.next()).value));
  };
  const call = (id: number, method: string, params: object) =>
    ask(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  expect(await ask("hello")).toMatchObject({ id: null, error: { code: -32_700 } });
  expect(await ask("[]")).toMatchObject({ id: null, error: { code: -32_600 } });
  expect(await ask("{}")).toMatchObject({ id: null, error: { code: -32_600 } });
  expect(await call(1, "session/new", { cwd: "/", mcpServers: [] })).toMatchObject({ id: 1, error: { code: -32_600 } });
  expect(await call(2, "initialize", { protocolVersion: "1" })).toMatchObject({ id: 2, error: { code: -32_602 } });
  // A newer client learns the supported version.
  expect(await call(3, "initialize", { protocolVersion: 99 })).toMatchObject({ id: 3, result: { protocolVersion: 1 } });
  const cwd = join(place.workspace, "no-such-folder");
  expect(await call(4, "session/new", { cwd, mcpServers: [] })).toMatchObject({
    id: 4,
    error: { message: expect.stringContaining(cwd) },
  });

  let complaint = "";
  running.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    complaint += chunk;
  });
  const exit = endOf(running);
  const piece = "x".repeat(1024 * 1024);
  for (let sent = 0; sent < 40 && running.exitCode === null; sent++) {
    running.stdin.write(piece);
    await sleep(1);
  }
  expect(await exit).toBe(1);
  expect(complaint).toContain("33554432 byte limit");
});

test("an editor and a page see one conversation of a running server; what runs there goes on when the editor is gone", async () => {
  using place = home();
  await using model = await modelServer(
    { text: "From the server." },
    { text: "To the page." },
    { text: ["On", "ward"], pace: 300 },
  );
  const [, address] = await serving(place, model.env);
  const page = await connected(address);
  const at = await editor(place, ["--attach", address]);
  const { sessionId } = await at.agent.request(session.new, { cwd: place.workspace, mcpServers: [] });
  expect(await at.say(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
  const watched = await page.watch(sessionId).loaded;
  expect(watched.state.messages.size).toBe(2);
  await page.ask("turn.say", { conversation: sessionId, parts: [{ type: "text", text: "from the page" }] });
  await eventually(() => expect(at.said).toBe("From the server.To the page."));
  expect(JSON.stringify(at.updates)).toContain("from the page");

  const elsewhere = at.agent.request(session.new, { cwd: join(place.workspace, ".."), mcpServers: [] });
  await expect(elsewhere).rejects.toMatchObject({ message: expect.stringContaining(`it works in ${place.workspace}`) });
  at.say(sessionId, "go on").catch(() => {});
  await eventually(() => expect(at.said).toContain("On"));
  at.running.stdin.end();
  expect(await endOf(at.running)).toBe(0);
  await until(watched, () => watched.state.runs.size === 0 && watched.state.messages.size === 6);
  expect(JSON.stringify([...watched.state.messages.values()].at(-1))).toContain("Onward");
});

test("the servers of an editor are there in its session, and in no other; its settings stay as they are", async () => {
  using place = home();
  await using model = await modelServer(
    { calls: [{ tool: "mcp_my_server_add", input: { one: 1 } }] },
    { text: "Added." },
    { text: "None." },
  );
  const at = await editor(place, [...MODEL, "--approval", "ask"], { env: model.env });
  const command = process.execPath;
  const args = [fileURLToPath(new URL("../mcp/program-server.fixture.ts", import.meta.url))];
  const servers: McpServer[] = [{ name: "my server", command, args, env: [{ name: "NOTE", value: "of the editor" }] }];
  const { sessionId } = await at.agent.request(session.new, { cwd: place.workspace, mcpServers: servers });
  expect(await at.say(sessionId, "add")).toEqual({ stopReason: "end_turn" });
  expect(JSON.stringify(at.updates)).toContain("of the editor");
  const { sessionId: other } = await at.agent.request(session.new, { cwd: place.workspace, mcpServers: [] });
  await at.say(other, "add");
  const { stdout } = await banyan(place, ["config", "get", "-o", "json"]);
  expect(stdout).not.toContain("my_server");
});

test("a wrong command line of `banyan acp` gets the reason", async () => {
  using place = home();
  const mixed = await banyan(place, ["acp", "--attach", "http://127.0.0.1:1", "--approval", "all"]);
  expect([mixed.code, mixed.stderr]).toEqual([2, expect.stringContaining("--approval does not go with --attach")]);
});
