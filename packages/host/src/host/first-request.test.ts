import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { say } from "@banyan/core";
import { collect } from "@banyan/core/testing";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, onTestFinished, test, vi } from "vitest";
import { modelServer, type SentBody } from "./model-server.fixture.ts";
import { openHost } from "./open-host.ts";

const NOTES = fileURLToPath(new URL("../equipment/mcp-server.fixture.ts", import.meta.url));

function folders() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-request-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const cwd = join(home, "project");
  mkdirSync(cwd);
  mkdirSync(join(home, "own/config"), { recursive: true });
  return { home, cwd };
}

async function hostAt({ home, cwd }: ReturnType<typeof folders>, address: string, settings: object = {}) {
  writeFileSync(join(home, "own/config/settings.json"), JSON.stringify(settings));
  const env = {
    BANYAN_HOME: join(home, "own"),
    BANYAN_NO_DISCOVERY: "1",
    OPENAI_COMPATIBLE_BASE_URL: address,
    PATH: process.env.PATH,
  };
  const host = await openHost({ cwd, home, env, flags: { model: "openai-compatible/m" }, canAsk: true });
  await host.ready();
  return host;
}

test("V5: the first request of the program has at most 2,050 tokens", async () => {
  await using server = await modelServer(() => "Hello.");
  const places = folders();
  const host = await hostAt(places, server.address);
  const session = await host.newSession();
  await collect(host.informed(host.agent, session.state).chat(say("hi"), { session }));
  await session.close();
  await host.close();
  const [body] = server.bodies;
  const names = body?.tools?.map((tool) => (tool as { readonly function: { readonly name: string } }).function.name);
  expect(names).toEqual(expect.arrayContaining(["read", "search", "edit", "edit_mode", "shell", "launch_agent"]));
  const messages = JSON.stringify(body?.messages)
    .replaceAll(places.cwd, "/home/user/project")
    .replace(
      /Date: .*(?=\\n- Git)/,
      "Date: Monday, 30 November 2026 (UTC)\\n- System: Linux 6.18 (x64); commands run in /bin/bash",
    );
  expect(messages).toContain("System: Linux 6.18 (x64)");
  const tokens = countTokens(messages) + countTokens(JSON.stringify(body?.tools));
  expect(tokens).toBeLessThanOrEqual(2_050);
});

test("V5: earlier requests contain 98 % of the bytes of 50 turns after the first request, with branches, sub-agents and changed tools", async () => {
  const places = folders();
  writeFileSync(join(places.cwd, "notes.md"), "A banyan puts down roots from its branches.\n".repeat(25));
  // Each turn reads a file and answers. Every tenth turn gives a task to a sub-agent, which reads the file too.
  await using server = await modelServer(({ messages }) => {
    const last = messages.at(-1);
    const begun = messages.findLast(({ role }) => role === "user");
    const isTask = JSON.stringify(messages[1]).includes("The result must contain");
    if (last?.role === "user") {
      if (!isTask && JSON.stringify(begun).includes("launch"))
        return { tool: "launch_agent", input: { task: "Read notes.md.", expected_output: "A word." } };
      return { tool: "read", input: { path: "notes.md" } };
    }
    return isTask ? { tool: "finish_task", input: { result: "roots" } } : "The notes tell of a banyan. ".repeat(8);
  });
  const servers = (...tools: readonly string[]) => ({
    mcpServers: { notes: { command: process.execPath, args: [NOTES, tools.join(",")] } },
  });
  let id: string | undefined;
  let branch: string | undefined;
  for (const [part, settings] of [servers("tree"), servers("tree", "leaf"), {}, servers("leaf")].entries()) {
    const host = await hostAt(places, server.address, settings);
    const session = id === undefined ? await host.newSession() : await host.openById(id);
    id = session.id;
    const count = part === 3 ? 11 : 13;
    for (let turn = 0; turn < count; turn++) {
      if (turn === 5 && "mcpServers" in settings) {
        await vi.waitFor(
          () => expect(host.agent.options.tools?.map(({ name }) => name)).toContain("mcp_notes_count"),
          20_000,
        );
      }
      const at = turn === 8 && branch !== undefined ? { at: branch } : {};
      const text = turn % 10 === 9 ? "Please launch a reader." : `Question ${turn} of part ${part}?`;
      await collect(host.informed(host.agent, session.state).chat(say(text), { session, ...at }));
      if (turn === 6) branch = session.state.leaf ?? undefined;
    }
    await session.close();
    await host.close();
  }
  expect(server.bodies.length).toBeGreaterThan(100);
  const { shared, all } = sharedBytes(server.bodies);
  expect(shared / all).toBeGreaterThan(0.98);
});

/**
 * Counts the bytes of all requests but the first, in the order in which models read them, and those at the start that an
 * earlier request had.
 */
function sharedBytes(bodies: readonly SentBody[]): { readonly shared: number; readonly all: number } {
  const earlier: string[] = [];
  let [shared, all] = [0, 0];
  for (const { tools, messages } of bodies) {
    const whole = JSON.stringify(tools) + JSON.stringify(messages);
    if (earlier.length > 0) {
      shared += Math.max(...earlier.map((one) => sharedLength(one, whole)));
      all += whole.length;
    }
    earlier.push(whole);
  }
  return { shared, all };
}

function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
