import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { json } from "node:stream/consumers";
import { type Agent, Session, say, textOf } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openHost } from "../host/open-host.ts";

let home: string;
let cwd: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-equipment-")));
  cwd = join(home, "project");
  mkdirSync(cwd);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function write(path: string, content: string): void {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

function open(
  settings: object = {},
  more: { trusted?: boolean; env?: Record<string, string>; readyLater?: boolean } = {},
) {
  write("own/config/settings.json", JSON.stringify({ sandbox: { enabled: "off" }, ...settings }));
  const env = { BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1", ...more.env };
  return openHost({ cwd, home, flags: { model: "demo/offline" }, canAsk: true, ...more, env });
}

const names = (agent: Agent) => (agent.options.tools ?? []).map(({ name }) => name);

describe("tools of an agent", () => {
  test("its own tools, web tools, memory tools and control tools", async () => {
    const host = await open({ memory: { enabled: true } });
    expect(names(host.agent).toSorted()).toEqual(
      [
        ...["read", "list", "search", "write", "edit", "edit_mode", "shell", "fetch", "remember", "forget"],
        ...["processes", "process_input"],
        ...["launch_agent", "shorten_conversation", "update_plan", "ask_client"],
      ].toSorted(),
    );
    await host.close();
  });

  test.each([{}, { memory: { enabled: false } }, { memory: { embedModel: "openai-compatible/embed" } }])(
    "B45, S26: without memory, until the user has agreed to it: %j",
    async (settings) => {
      const host = await open(settings);
      expect(names(host.agent)).not.toContain("remember");
      expect(host.agent.options.memory).toBeUndefined();
      await host.agreeToMemory();
      expect(names(host.agent)).toContain("remember");
      expect(host.agent.options.memory).toBeDefined();
      await host.close();
    },
  );

  test("B45: the agent recalls a message from another conversation", async () => {
    const host = await open({ memory: { enabled: true } });
    const model = scriptedModel(() => "Noted.");
    const agent = host.agent.with({ model });
    const first = await host.newSession();
    await agent.send("The deployment key is kept in the green cupboard.", { session: first });
    await first.close();
    const second = await host.newSession();
    await agent.send("Where is the deployment key kept?", { session: second });
    const question = [...second.state.messages.values()][0];
    expect(question?.role === "user" && question.recalled?.map(({ text }) => text).join(" ")).toContain(
      "green cupboard",
    );
    await second.close();
    await host.close();
  });

  test("B45: an embedding model recalls texts of similar meaning; if the model fails, words decide, with one notice", async () => {
    let isDown = false;
    const asked: string[] = [];
    const server = createServer({ keepAliveTimeout: 600_000 }, async (request, response) => {
      const { input } = (await json(request)) as { input: string[] };
      asked.push(...input);
      const data = input.map((text, index) => ({ index, embedding: /car|automobile/i.test(text) ? [1, 0] : [0, 1] }));
      response.writeHead(isDown ? 503 : 200, { "content-type": "application/json" }).end(JSON.stringify({ data }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const env = { OPENAI_COMPATIBLE_BASE_URL: `http://127.0.0.1:${port}/v1` };
    const host = await open({ memory: { enabled: true, embedModel: "openai-compatible/embed" } }, { env });
    expect(host.notices).toEqual([]);
    expect(asked).toEqual([]);
    const agent = host.agent.with({ model: scriptedModel(() => "Noted.") });
    const recalled: string[] = [];
    const skipped: string[] = [];
    const ask = async (text: string) => {
      const session = await host.newSession();
      for await (const item of agent.chat(say(text), { session })) {
        if (item.type === "memory.recalled") recalled.push(...item.items.map(({ text }) => text));
        if (item.type === "memory.skipped") skipped.push(item.reason);
      }
      await session.close();
    };
    await ask("My automobile is a red one.");
    const { memory } = await host.ready();
    const signal = new AbortController().signal;
    await expect.poll(() => memory?.recall("car", { limit: 1, signal })).toHaveLength(1);
    await ask("Which car do I drive?");
    expect(recalled).toEqual(["My automobile is a red one."]);
    isDown = true;
    recalled.length = 0;
    await ask("What colour is that automobile of mine?");
    await ask("Once more, about my automobile.");
    expect(recalled).toContain("My automobile is a red one.");
    expect(skipped).toEqual([expect.stringContaining("openai-compatible/embed cannot be used")]);
    await host.close();
    server.closeAllConnections();
    server.close();
  });

  test("B45: a notice names a missing embedding model, and memory uses words", async () => {
    const host = await open({ memory: { enabled: true, embedModel: "anthropic/claude-sonnet-5" } });
    expect(host.notices.join()).toMatch(
      /memory\.embedModel cannot be used: .*anthropic has no embedding models\. Name one of openai/,
    );
    expect((await host.ready()).memory).toBeDefined();
    await host.close();
  });

  test("skills, commands and agents of the user, and of a project that is trusted only", async () => {
    write("own/config/skills/release/SKILL.md", "---\ndescription: How we release.\n---\nTag it.");
    write("own/config/agents/mine.md", "---\ndescription: Mine.\n---\nBe mine.");
    write("project/.banyan/agents/theirs.md", "---\ndescription: Theirs.\n---\nBe theirs.");
    write("project/.banyan/commands/fix.md", "Fix $1.");
    write("own/config/agents/broken.md", "no instructions: [");
    const untrusted = await open();
    const before = await untrusted.ready();
    expect(before.agents.map(({ name, tools }) => [name, tools])).toEqual([
      ["mine", undefined],
      ["reviewer", ["read", "list", "search"]],
    ]);
    expect(before.commands).toEqual([]);
    expect(before.notices.join("\n")).toContain("broken.md");
    expect(names(untrusted.agent)).toContain("skill");
    await untrusted.close();
    const trusted = await open({}, { trusted: true });
    const { agents, commands } = await trusted.ready();
    expect(agents.map(({ name }) => name)).toEqual(["mine", "theirs", "reviewer"]);
    expect(commands.map(({ name }) => name)).toEqual(["fix"]);
    await trusted.close();
  });

  test("B47: the next turn has the tools of MCP servers that are ready, and a failed server stops nothing", async () => {
    const server = join(import.meta.dirname, "mcp-server.fixture.ts");
    const host = await open({
      mcpServers: { notes: { command: process.execPath, args: [server] }, gone: { command: "/no/such/program" } },
    });
    const { mcp } = await host.ready();
    await mcp?.settled();
    expect(names(host.agent)).toContain("mcp_notes_count");
    expect(mcp?.states.find(({ name }) => name === "gone")?.status).toBe("failed");
    const model = scriptedModel([[call("mcp_notes_count", {})], "ok"]);
    const session = Session.inMemory();
    await host.agent.with({ model, permission: () => ({ decision: "allow" }) }).send("Count.", { session });
    const results = model.requests[1]?.messages.flatMap((m) => (m.role === "assistant" ? m.results : [])) ?? [];
    expect(results.map(({ output }) => output)).toEqual(["three notes"]);
    await host.close();
  });

  test("B39: a task gets the results of the last tasks in its directory", async () => {
    const host = await open({ memory: { enabled: true } });
    const { memory } = await host.ready();
    await memory?.remember([{ kind: "summary", text: "The build was repaired.", conversation: "c1", at: Date.now() }]);
    const task = await host.taskAgent();
    expect(task.options.mode).toBe("task");
    expect(task.options.instructions).toContain("The build was repaired.");
    await host.close();
  });

  test("S9: without its required sandbox, nothing runs and an error says so", async () => {
    await expect(open({ sandbox: { enabled: "require" } })).rejects.toThrow(/sandbox\.enabled/);
  });

  test("B54: a conversation gets its title from the model that the settings name", async () => {
    const host = await open({ titleModel: "demo/offline" });
    const session = await host.newSession();
    const named = Promise.withResolvers<string>();
    session.listen({
      items: (items) => {
        for (const item of items) if (item.type === "title.changed") named.resolve(item.title);
      },
      ended() {},
    });
    const turn = await host.agent.with({ model: scriptedModel(["Hello."]) }).send("Hi", { session });
    expect(turn.message && textOf(turn.message)).toBe("Hello.");
    expect(await named.promise).not.toBe("");
    await session.close();
    await host.close();
  });

  test("F37: a host becomes ready after its missing folder is back", async () => {
    const host = await open({}, { readyLater: true });
    const away = `${host.workspace}-away`;
    renameSync(host.workspace, away);
    await expect(host.ready()).rejects.toThrow(/cannot be opened/);
    renameSync(away, host.workspace);
    expect((await host.ready()).tools.length).toBeGreaterThan(0);
    await host.close();
  });

  test("F37: closing a host during the search for a title model ends no program", async () => {
    const host = await open({ titleModel: "demo/offline" });
    const rejected: unknown[] = [];
    const hear = (reason: unknown) => rejected.push(reason);
    process.on("unhandledRejection", hear);
    await host.newSession();
    await host.close();
    for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", hear);
    expect(rejected).toEqual([]);
  });
});
