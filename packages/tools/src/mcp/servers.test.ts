import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import type { ProgramLaunch } from "../sandbox/index.ts";
import { OwnTime } from "../workspace/commands/processes.fixture.ts";
import { isRunning, puppet, TestServers } from "./testing/surroundings.fixture.ts";

const signal = new AbortController().signal;

describe("starting", () => {
  test("B47: servers start at once in the background; a failed server stops no other server, and gives its reason", async () => {
    await using opened = new TestServers({
      good: puppet(),
      keyless: puppet({ says: "Set API_KEY.", exits: 3 }),
      missing: { command: "no-such-program" },
      homeless: { ...puppet(), cwd: "no/such/folder" },
      deaf: puppet({ deaf: true }, { timeout: 700 }),
      unset: { command: "x", args: [`\${NO_SUCH_VARIABLE}`] },
      wrong: { command: 5 },
      off: { command: "x", disabled: true },
      nobody: { url: "http://127.0.0.1:1/mcp" },
    });
    expect(opened.statuses.filter((status) => status.endsWith("connecting"))).toHaveLength(7);
    await opened.servers.settled();
    expect(opened.statuses).toEqual([
      "good: ready",
      "keyless: failed",
      "missing: failed",
      "homeless: failed",
      "deaf: failed",
      "unset: failed",
      "wrong: failed",
      "off: disabled",
      "nobody: failed",
    ]);
    expect(opened.servers.states[0]).toEqual({ name: "good", status: "ready", tools: 10 });
    expect(opened.reason("keyless")).toBe("it ended with exit code 3; its last output: Set API_KEY.");
    expect(opened.reason("missing")).toMatch(
      /^no-such-program cannot be started in .* \(ENOENT\); check that the program and the folder exist/,
    );
    expect(opened.reason("homeless")).toContain("/no/such/folder (ENOENT)");
    expect(opened.reason("deaf")).toBe("it gave no answer in time");
    expect(opened.reason("unset")).toContain('The MCP server "unset" needs the environment variable NO_SUCH_VARIABLE.');
    expect(opened.reason("wrong")).toContain(
      'The entry of the MCP server "wrong" is invalid: command: expected the program to run',
    );
    expect(opened.reason("nobody")).toMatch(/^it cannot be reached: /);
    expect(opened.toolNames.every((name) => name.startsWith("mcp_good_"))).toBe(true);
  });

  test("B47: the client uses the newer protocol with a program that has no other", async () => {
    await using opened = await TestServers.settled({ modern: puppet({ modern: true }) });
    expect(opened.statuses).toEqual(["modern: ready"]);
    expect(await opened.call("mcp_modern_echo", { text: "hello" })).toBe("hello");
  });

  test("F37: a failing listener of server changes ends no program: the journal has the reason", async () => {
    await using opened = await TestServers.settled(
      { good: puppet() },
      {
        onChange: () => {
          throw new Error("these tools cannot be taken");
        },
      },
    );
    expect(opened.statuses).toEqual(["good: ready"]);
    expect(opened.servers.journal("good")).toContain("banyan: these tools cannot be taken");
    expect(await opened.call("mcp_good_echo", { text: "hello" })).toBe("hello");
  });

  test("the client ignores lines that are no message", async () => {
    await using opened = await TestServers.settled({ chatty: puppet({ chatters: true }) });
    expect(await opened.call("mcp_chatty_echo", { text: "hello" })).toBe("hello");
    expect(opened.servers.journal("chatty")).toBe("banyan: A line of the server's output is JSON but not a message.");
  });

  test("S9: a program starts as the sandbox says, and the sandbox learns of its end", async () => {
    const ended: string[] = [];
    const wrap = async ({ file, args, environment }: ProgramLaunch) => ({
      file: "/usr/bin/env",
      args: ["WRAPPED=yes", file, ...args],
      environment: { ...environment, INSIDE: "yes" },
      [Symbol.dispose]: () => void ended.push(file),
    });
    await using opened = await TestServers.settled({ it: puppet() }, { wrap });
    expect((await opened.call("mcp_it_environment")).split(" ")).toEqual([
      "BANYAN_PROCESSES",
      "INSIDE",
      "PATH",
      "WRAPPED",
    ]);
    expect(ended).toEqual([]);
    await opened.servers.close();
    expect(ended).toEqual([process.execPath]);
  });

  test("S9: a program that the sandbox refuses does not start", async () => {
    const wrap = () => Promise.reject(new Error("The sandbox is closed."));
    await using opened = await TestServers.settled({ it: puppet() }, { wrap });
    expect(opened.statuses).toEqual(["it: failed"]);
    expect(opened.reason("it")).toBe("The sandbox is closed.");
  });

  test("S10: a program gets a few harmless variables and the variables of its entry", async () => {
    const env = {
      PATH: process.env.PATH,
      HOME: "/home/me",
      TOKEN: "secret",
      OTHER: "not for it",
      EMPTY: "",
      LANG: "() { :; }",
    };
    const given = { KEY: `\${TOKEN}`, MODE: `\${MODE:-fast}`, EMPTY: `\${EMPTY}`, LITERAL: "$TOKEN" };
    await using opened = await TestServers.settled({ it: puppet({ says: `\${TOKEN}` }, { env: given }) }, { env });
    const names = (await opened.call("mcp_it_environment")).split(" ");
    expect(names).toEqual(["BANYAN_PROCESSES", "EMPTY", "HOME", "KEY", "LITERAL", "MODE", "PATH"]);
    await opened.untilSaid("it", "secret");
  });

  test("B47: the journal keeps a server's standard error, bounded and without control sequences", async () => {
    await using opened = await TestServers.settled({ loud: puppet({ says: `\x1b[31m${"long ".repeat(5_000)}\nend` }) });
    await opened.untilSaid("loud", "end");
    const [first = ""] = opened.servers.journal("loud").split("\n");
    expect(first.startsWith("long long")).toBe(true);
    expect(first.length).toBeLessThanOrEqual(2_001);
  });
});

describe("tools", () => {
  test("B47: a server defines the effects of its tools, but never none, which would be allowed without asking (B63)", async () => {
    const readOnly = {
      name: "look",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true, title: "Look" },
    };
    await using opened = await TestServers.settled({ it: puppet({ tools: [readOnly] }) });
    expect(opened.tool("mcp_it_look")).toMatchObject({ effects: "idempotent", parallel: true, description: "Look" });
    expect(opened.tool("mcp_it_grow")).toMatchObject({ effects: "idempotent" });
    expect(opened.tool("mcp_it_grow").parallel).toBeUndefined();
    expect(opened.tool("mcp_it_crash")).toMatchObject({ effects: "external", description: "Ends the server." });
    expect(opened.servers.tools.filter(({ effects }) => effects === "none")).toEqual([]);
  });

  test("B47: a failing tool and an error answer are failures in words", async () => {
    await using opened = await TestServers.settled({ it: puppet() });
    await expect(opened.call("mcp_it_fail")).rejects.toMatchObject({ code: "refused", message: "It did not work." });
    await expect(opened.call("mcp_it_error")).rejects.toMatchObject({
      code: "refused",
      message: 'The MCP server "it" failed: it answered: The strings are tangled.',
    });
    expect(opened.statuses).toEqual(["it: ready"]);
  });

  test("B47: progress is shown", async () => {
    await using opened = await TestServers.settled({ it: puppet() });
    let shown = "";
    const progress = (text: string) => {
      shown += text;
    };
    expect(await opened.call("mcp_it_steps", { count: 3 }, { progress })).toBe("done");
    expect(shown).toBe("step (1 of 3)\nstep (2 of 3)\nstep (3 of 3)\n");
  });

  test("B47: a cancelled call ends at once, and is cancelled at the server", async () => {
    await using opened = await TestServers.settled({ it: puppet() });
    const control = new AbortController();
    const called = opened.call("mcp_it_wait", {}, { signal: control.signal });
    await opened.untilSaid("it", "waiting");
    control.abort(new Error("enough"));
    await expect(called).rejects.toThrow("enough");
    await opened.untilSaid("it", "cancelled");
    expect(await opened.call("mcp_it_echo", { text: "still here" })).toBe("still here");
  });

  test("B47: the list of tools is the same array until a server announces a change", async () => {
    await using opened = await TestServers.settled({ it: puppet() });
    const before = opened.servers.tools;
    expect(opened.servers.tools).toBe(before);
    await opened.call("mcp_it_grow");
    await expect.poll(() => opened.toolNames).toContain("mcp_it_grown");
    expect(opened.servers.tools).not.toBe(before);
    expect(before.map(({ name }) => name)).not.toContain("mcp_it_grown");
    expect(await opened.call("mcp_it_grown")).toBe("grown");
  });

  test("a tool that is listed twice, or runs only as a task, is left out with a note", async () => {
    const inputSchema = { type: "object" };
    const tools = [
      { name: "echo", inputSchema },
      { name: "research", inputSchema, execution: { taskSupport: "required" } },
    ];
    await using opened = await TestServers.settled({ it: puppet({ tools }) });
    expect(opened.toolNames.filter((name) => /echo|research/.test(name))).toEqual(["mcp_it_echo"]);
    expect(opened.servers.journal("it")).toContain("the tool research is left out: it runs as a task only");
    expect(opened.servers.journal("it")).toContain("the tool echo is left out: it is listed twice");
  });
});

test("B47: a tool with a strange schema harms neither itself nor the agent", async () => {
  const properties = {
    id: { type: "string", pattern: "[\\w-\\.]+(" },
    other: { $ref: "http://[" },
    lost: { $ref: "#/$defs/lost" },
  };
  const strange = { name: "strange", inputSchema: { type: "object", $id: "http://[", properties, required: ["id"] } };
  await using opened = await TestServers.settled({ it: puppet({ tools: [strange] }) });
  const calls = [call("mcp_it_strange", { id: "a", other: 1, lost: 2 }), call("mcp_it_strange", { id: 5 })];
  const model = scriptedModel([calls, "done"]);
  await new Agent({ model, tools: opened.servers.tools }).send("go");
  const answered = model.requests[1]?.messages.at(-1);
  expect(answered).toMatchObject({
    results: [
      { output: "strange", failed: false },
      { output: expect.stringContaining("do not match its schema: at id: "), failed: true },
    ],
  });
});

test("F43: a tool with a schema of another dialect gets its arguments, and a notice names unreadable parts", async () => {
  const properties = {
    what: { type: "any" },
    note: { type: "string", nullable: true },
    count: { type: "integer", minimum: 0, exclusiveMinimum: true },
    odd: { type: "moon" },
    lost: { $ref: "#/definitions/lost" },
  };
  const dialect = { name: "dialect", inputSchema: { type: "object", properties } };
  const plain = { name: "plain", inputSchema: { type: "object" } };
  await using opened = await TestServers.settled({ it: puppet({ tools: [dialect, plain] }) });
  const fits = { what: [1], note: null, count: 1, odd: "x", lost: 2 };
  const model = scriptedModel([[call("mcp_it_dialect", fits), call("mcp_it_dialect", { count: 0 })], "done"]);
  await new Agent({ model, tools: opened.servers.tools }).send("go");
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({
    results: [
      { output: "dialect", failed: false },
      { output: expect.stringContaining("do not match its schema: at count: "), failed: true },
    ],
  });
  expect(opened.servers.states).toEqual([
    { name: "it", status: "ready", tools: 12, unread: [expect.stringMatching(/^dialect \(.*"moon" is not a type/)] },
  ]);
});

describe("prompts and resources", () => {
  test("B47: prompts are listed, and filled in", async () => {
    await using opened = await TestServers.settled({ it: puppet() });
    const [prompt] = opened.servers.prompts;
    expect(prompt).toEqual({
      server: "it",
      name: "greet",
      description: "A greeting.",
      arguments: [{ name: "who", description: "", required: true }],
    });
    const parts = await opened.servers.prompt({ server: "it", name: "greet" }, { who: "Ann" }, signal);
    expect(parts).toEqual([{ type: "text", text: "Say hello to Ann." }]);
  });

  test("B47: the client lists resources, and reads them with their origin", async () => {
    await using opened = await TestServers.settled({ it: puppet() });
    const listed = await opened.servers.resources("it", signal);
    expect(listed).toEqual([{ server: "it", uri: "note://one", name: "one", description: "", mimeType: "text/plain" }]);
    expect(await opened.servers.read({ server: "it", uri: "note://one" }, signal)).toEqual([
      { type: "text", text: "[resource @it:note://one]\nThe note note://one." },
    ]);
    await expect(opened.servers.read({ server: "other", uri: "a" }, signal)).rejects.toMatchObject({
      code: "unknown",
      message: 'No MCP server named "other" is enabled. Enabled servers: it.',
    });
  });

  test("a server supplies instructions for its use", async () => {
    await using opened = await TestServers.settled({ it: puppet() });
    expect(opened.servers.instructions("it")).toBe("Pull the strings.");
  });
});

describe("losing a server", () => {
  test("B47: a server that ended is started again, and the error of its call says that the effect is unknown", async () => {
    await using opened = await TestServers.settled({ it: puppet() });
    await expect(opened.call("mcp_it_crash")).rejects.toMatchObject({
      code: "gone",
      message: expect.stringContaining("It is unknown whether the request took effect."),
    });
    expect(opened.toolNames).toContain("mcp_it_echo");
    expect(await opened.call("mcp_it_echo", { text: "back" })).toBe("back");
    expect(opened.statuses).toEqual(["it: ready"]);
  });

  test("B47: the client gives up a server that ends repeatedly, until the user reconnects", async () => {
    await using opened = await TestServers.settled({ it: puppet() });
    for (let crash = 0; crash < 3; crash += 1) await expect(opened.call("mcp_it_crash")).rejects.toThrow("failed");
    await expect(opened.call("mcp_it_crash")).rejects.toThrow("failed");
    await expect.poll(() => opened.statuses).toEqual(["it: failed"]);
    expect(opened.reason("it")).toBe("it was lost 3 times in a row");
    await opened.servers.reconnect("it");
    expect(opened.statuses).toEqual(["it: ready"]);
    expect(await opened.call("mcp_it_echo", { text: "back" })).toBe("back");
  });
});

/** Processes are looked up in `/proc`. */
const linux = test.skipIf(process.platform !== "linux");

describe("F17: closing", () => {
  linux("ends a server that does not want to, and what it left behind, within 3 seconds", async () => {
    await using opened = await TestServers.settled({ stubborn: puppet({ stubborn: true }), good: puppet() });
    const daemon = Number(await opened.call("mcp_stubborn_daemon"));
    const children = childrenOf(process.pid);
    expect(children.length).toBeGreaterThanOrEqual(2);
    expect(isRunning(daemon)).toBe(true);
    using time = new OwnTime();
    await opened.servers.close();
    expect(time.milliseconds).toBeLessThan(3_000);
    expect([daemon, ...children].filter(isRunning)).toEqual([]);
  });

  test("closing ends a running call, and later calls fail", async () => {
    await using opened = await TestServers.settled({ it: puppet() });
    const called = opened.call("mcp_it_wait");
    await opened.untilSaid("it", "waiting");
    await Promise.all([
      expect(called).rejects.toThrow('The MCP server "it" failed: it was closed.'),
      opened.servers.close(),
    ]);
    await expect(opened.call("mcp_it_echo")).rejects.toThrow('The MCP server "it" is not available: it was closed.');
  });

  linux("when the program ends without it, servers end too", async () => {
    const program = `
      import { openMcpServers } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
      const servers = openMcpServers({ workspace: ".", env: process.env, servers: { it: ${JSON.stringify(puppet({ stubborn: true }))} } });
      await servers.settled();
      const daemon = servers.tools.find(({ name }) => name === "mcp_it_daemon");
      console.log(await daemon.execute({}, { signal: new AbortController().signal, progress() {} }));
      process.exit(0);`;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
    expect(stdout).toMatch(/^\d+\n$/);
    await expect.poll(() => isRunning(Number(stdout))).toBe(false);
  });

  linux("servers that are still starting end too", async () => {
    await using opened = new TestServers({ deaf: puppet({ deaf: true }) });
    await expect.poll(() => childrenOf(process.pid).length).toBeGreaterThan(0);
    const children = childrenOf(process.pid);
    await opened.servers.close();
    expect(children.filter(isRunning)).toEqual([]);
  });
});

/** Returns the running child processes. */
function childrenOf(id: number): number[] {
  const text = readFileSync(`/proc/${id}/task/${id}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number).filter(isRunning);
}
