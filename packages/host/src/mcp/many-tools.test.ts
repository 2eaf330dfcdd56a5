import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Session } from "@banyan/core";
import { call, type Scene, scriptedModel } from "@banyan/core/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Host } from "../host/host.ts";
import { openHost } from "../host/open-host.ts";

let home: string;
let cwd: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-many-")));
  cwd = join(home, "project");
  mkdirSync(cwd);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const SERVER = join(import.meta.dirname, "../equipment/mcp-server.fixture.ts");
const server = (names: readonly string[], said = "Ask for notes.") => ({
  notes: { command: process.execPath, args: [SERVER, names.join(","), said] },
});
const FOUR_HUNDRED = Array.from({ length: 400 }, (_, index) => `thing_${index}`);

async function open(mcpServers: object, settings: object = {}): Promise<Host> {
  mkdirSync(join(home, "own/config"), { recursive: true });
  const all = { sandbox: { enabled: "off" }, mcpServers, ...settings };
  writeFileSync(join(home, "own/config/settings.json"), JSON.stringify(all));
  const env = { BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1" };
  const host = await openHost({ cwd, home, flags: { model: "demo/offline" }, canAsk: true, env });
  await (await host.ready()).mcp?.settled();
  return host;
}

/** Returns the first request of a turn, and the results of its calls. */
async function turn(host: Host, session: Session, ...scenes: readonly Scene[]) {
  const model = scriptedModel([...scenes, "ok"]);
  const agent = host.informed(host.agent, session.state).with({ model, permission: () => ({ decision: "allow" }) });
  await agent.send("Go.", { session });
  const [first, second] = model.requests;
  const last = second?.messages.at(-1);
  return {
    start: JSON.stringify([first?.instructions, first?.tools]),
    tools: first?.tools.map(({ name }) => name) ?? [],
    outputs: last?.role === "assistant" ? last.results.map(({ output }) => output) : [],
  };
}

const offered = (tools: readonly string[]) => tools.filter((name) => name.startsWith("mcp_"));

describe("C3: many tools without their price", () => {
  test("400 tools take less than 12 kB of a request, can be found and called, and no change alters the request's beginning", async () => {
    const without = await open({});
    const plain = await turn(without, await without.newSession());
    await without.close();

    const host = await open(server(FOUR_HUNDRED));
    const session = await host.newSession();
    const found = await turn(host, session, [call("find_tools", { query: "work on thing 77" })]);
    expect(found.start.length - plain.start.length).toBeLessThan(2_000);
    expect(offered(found.tools)).toEqual([]);
    expect(found.outputs[0]).toMatch(/^\{"name":"mcp_notes_thing_77","description":"Works on thing_77/);
    const called = await turn(host, session, [
      call("call_tool", { tool: "mcp_notes_thing_77", input: { id: 1 } }),
      call("call_tool", { tool: "mcp_notes_thing_77", input: { id: "x" } }),
    ]);
    expect(called.outputs).toEqual([
      "three notes",
      expect.stringMatching(/^The arguments of "mcp_notes_thing_77" do not match its schema: at id/),
    ]);
    expect((await host.contextParts(session.state, null)).filter(({ kind }) => kind === "tool").length).toBe(
      found.tools.length,
    );
    const { id } = session.state;
    await session.close();
    await host.close();

    const others = [{ notes: { command: "/no/such/program" } }, server(["thing_1"], "Something else."), {}];
    for (const servers of others) {
      const later = await open(servers);
      const again = await later.openById(id);
      const { start, outputs } = await turn(later, again, [call("find_tools", { query: "thing" })]);
      expect(start).toBe(found.start);
      if (servers === others[2]) expect(outputs[0]).toMatch(/not there any more/);
      await again.close();
      await later.close();
    }
  });

  test("a few tools are listed; a removed tool stays listed and says so, and a new tool can be found", async () => {
    const host = await open(server(["old", "kept"]));
    const session = await host.newSession();
    const first = await turn(host, session);
    expect(offered(first.tools)).toEqual(["mcp_notes_count", "mcp_notes_old", "mcp_notes_kept"]);
    expect((await turn(host, session)).start).toBe(first.start);
    const { id } = session.state;
    await session.close();
    await host.close();

    const later = await open(server(["kept", "new"], "Something else."));
    const again = await later.openById(id);
    const second = await turn(later, again, [
      call("mcp_notes_old", { id: 1 }),
      call("mcp_notes_kept", { id: 1 }),
      call("find_tools", { query: "new" }),
      call("call_tool", { tool: "mcp_notes_new", input: { id: 1 } }),
    ]);
    expect(second.start).toBe(first.start);
    const [gone, kept, found, called] = second.outputs;
    expect(gone).toMatch(/not there any more/);
    expect([kept, called]).toEqual(["three notes", "three notes"]);
    expect(found).toMatch(/^\{"name":"mcp_notes_new"/);
    await again.close();
    await later.close();
  });

  test("the share is a setting", async () => {
    const few = await open(server(["a", "b"]), { toolShare: 0.001 });
    expect(offered((await turn(few, await few.newSession())).tools)).toEqual([]);
    await few.close();
    const many = await open(server(FOUR_HUNDRED.slice(0, 150)), { toolShare: 0.5 });
    expect(offered((await turn(many, await many.newSession())).tools).length).toBe(151);
    await many.close();
  });

  test("F49: find_tools finds tools beyond the provider's limit, however small they are", async () => {
    const host = await open(server(FOUR_HUNDRED.slice(0, 217)), { toolShare: 0.5 });
    const session = await host.newSession();
    const limited = host.agent.with({ model: { ...scriptedModel(["ok"]), maxTools: 128 } });
    const listed = host.informed(limited, session.state).options.tools?.filter(({ unlisted }) => !unlisted) ?? [];
    expect(offered(listed.map(({ name }) => name))).toEqual([]);
    expect(listed.map(({ name }) => name)).toContain("find_tools");
    const unlimited = host.informed(host.agent, session.state).options.tools?.filter(({ unlisted }) => !unlisted);
    expect(unlimited?.length).toBeGreaterThan(217);
    await session.close();
    await host.close();
  });
});
