import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathTo } from "@banyan/core";
import { toolNameOf } from "@banyan/core/conversation";
import { call, scriptedModel } from "@banyan/core/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { callAll, hostWith, toolAt } from "./odd-names.fixture.ts";

let home: string;
let cwd: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-odd-")));
  cwd = join(home, "project");
  mkdirSync(cwd);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const hook = (matcher: string, decision: string) => ({
  PreToolUse: [
    {
      matcher,
      hooks: [
        {
          type: "command",
          command: `echo '${JSON.stringify({ hookSpecificOutput: { permissionDecision: decision } })}'`,
        },
      ],
    },
  ],
});

test("S44: a hook that allows `mcp__g__only` does not allow `read_only`, and a guard on `mcp__g__read_only` fires", async () => {
  const servers = { g: ["read_only", "only"] };
  const settings = { hooks: hook("mcp__g__only", "allow") };
  await using opened = await hostWith(servers, { home, cwd, settings });
  const tools = ["read_only", "only"].map((name) => toolAt(opened.host, "g", name));
  expect(await callAll(opened.host, tools, "listed")).toEqual([false, true]);
  const guarded = { permissions: { allow: ["mcp__g"] }, hooks: hook("mcp__g__read_only", "deny") };
  await using other = await hostWith(servers, { home, cwd, settings: guarded });
  expect(await callAll(other.host, tools, "listed")).toEqual([false, true]);
});

test("S44: a name that matches two servers denies for both and allows for neither, with a notice", async () => {
  const servers = { a: ["b__c"], a__b: ["c"] };
  const name = "mcp__a__b__c";
  const tools = (host: Parameters<typeof toolAt>[0]) => [toolAt(host, "a", "b__c"), toolAt(host, "a__b", "c")];
  const notice = `The allow rule '${name}' matches several MCP servers (a and a__b), so the rule allows nothing. Rename one of the servers.`;
  await using allowing = await hostWith(servers, { home, cwd, settings: { permissions: { allow: [name] } } });
  expect(await callAll(allowing.host, tools(allowing.host), "listed")).toEqual([false, false]);
  expect(allowing.host.notices).toContain(notice);
  await using byHook = await hostWith(servers, { home, cwd, settings: { hooks: hook("*", "allow") } });
  expect(await callAll(byHook.host, tools(byHook.host), "listed")).toEqual([false, false]);
  const allow = tools(byHook.host).map((tool) => tool.name);
  const stored = { permissions: { allow } };
  await using byProviderName = await hostWith(servers, { home, cwd, settings: stored });
  expect(await callAll(byProviderName.host, tools(byProviderName.host), "listed")).toEqual([true, true]);
  await using denying = await hostWith(servers, { home, cwd, settings: { permissions: { allow, deny: [name] } } });
  expect(await callAll(denying.host, tools(denying.host), "listed")).toEqual([false, false]);
});

test("S44: a user reads the name of a tool that is built from its parts, also of a call that is denied or does not fit", async () => {
  const settings = { permissions: { allow: ["mcp__g__read_only"], deny: ["mcp__g__x.y"] } };
  await using opened = await hostWith({ g: ["read_only", "x.y"] }, { home, cwd, settings });
  const { host } = opened;
  const [reading, denied] = ["read_only", "x.y"].map((name) => toolAt(host, "g", name).name);
  const model = scriptedModel([
    [call(reading ?? "", { id: 1 }), call(denied ?? "", { id: 1 }), call(reading ?? "", { id: {} })],
    "ok",
  ]);
  const session = await host.newSession();
  await host.agent.with({ model }).send("Go.", { session });
  const calls = pathTo(session.state, session.state.leaf).flatMap((message) =>
    message.role === "assistant" ? message.calls : [],
  );
  expect(calls.map((each) => [toolNameOf(each), each.status])).toEqual([
    ["mcp__g__read_only", "completed"],
    ["mcp__g__x.y", "denied"],
    ["mcp__g__read_only", "failed"],
  ]);
  await session.close();
});
