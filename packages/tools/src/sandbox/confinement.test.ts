import { emptyConversation, type Tool } from "@banyan/core";
import { beforeEach, expect, test } from "vitest";
import { openWorkspace, shellTool } from "../workspace/index.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import { NetworkAccess } from "./index.ts";
import { helloServer, sandboxOf, whyNoSandbox } from "./sandbox.fixture.ts";

const reason = await whyNoSandbox();

beforeEach(({ skip }) => {
  if (reason !== undefined) skip(reason);
});

const lineOf = async (tool: Tool) => {
  const context = {
    context: undefined,
    conversation: emptyConversation(),
    path: [],
    signal: new AbortController().signal,
  };
  return (await tool.preview?.({ command: "true" }, context))?.confinement;
};

test("S41, S42: the question of a command says what holds the command, and which denied paths it can read", async () => {
  using folder = new TestFolder();
  const workspace = openWorkspace(folder.root);
  expect(await lineOf(shellTool(workspace))).toBe("Outside the sandbox");
  const denied = async () => [folder.path(".env"), "/srv/keys", ...[1, 2, 3, 4].map((each) => `/srv/${each}`)];
  expect(await lineOf(shellTool(workspace, { denied }))).toBe(
    "Outside the sandbox: it can read .env, /srv/keys, /srv/1, /srv/2, /srv/3 and 1 more paths, although a rule denies reading",
  );
  const failing = async () => Promise.reject(new Error("too many"));
  expect(await lineOf(shellTool(workspace, { denied: failing }))).toContain(
    "it can read files that could not be listed",
  );
  await using plain = await sandboxOf(folder);
  expect(await lineOf(shellTool(workspace, { sandbox: plain }))).toBe(
    "In the sandbox: no network, writes only in this folder",
  );
  const network = { allow: ["example.org", "example.com:443"] };
  await using open = await sandboxOf(folder, { network, writable: [folder.outside] });
  expect(await lineOf(shellTool(workspace, { sandbox: open }))).toBe(
    `In the sandbox: network only to example.org and example.com:443, writes only in this folder and ${folder.outside}`,
  );
});

test("S41: a revoked address is closed for the next connection, and the line about the sandbox leaves it out", async () => {
  using folder = new TestFolder();
  await using server = await helloServer();
  const address = `127.0.0.1:${server.port}`;
  const stored: unknown[] = [];
  const network = new NetworkAccess({
    domains: [address, "example.org"],
    keep: (...change) => stored.push(change),
  });
  await using sandbox = await sandboxOf(folder, { network });
  const tool = shellTool(openWorkspace(folder.root), { sandbox });
  const command = `curl -s --noproxy '' http://${address}`;
  expect(await call(tool, { command })).toBe("hello");
  expect(network.revoke("example.net")).toBe(false);
  expect(network.revoke(address)).toBe(true);
  expect(await call(tool, { command })).not.toContain("hello");
  expect(stored).toEqual([[address, false]]);
  expect(await lineOf(tool)).toContain("network only to example.org,");
});
