import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { userSettingsFile } from "../settings/index.ts";
import { TrustRecord } from "../trust/trust-record.ts";
import { addMcpServer, configuredServers, type McpContext, removeMcpServer } from "./index.ts";

let folder: string;
let place: McpContext;
let user: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "banyan-mcp-")));
  const cwd = join(folder, "project");
  mkdirSync(cwd);
  place = { env: {}, home: join(folder, "home"), cwd };
  user = userSettingsFile(place);
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const names = () => configuredServers(place).servers.map(({ name, layer }) => `${name} of ${layer}`);

test("B47: a wrong entry is reported with file and line, and changes no other entry", () => {
  put(
    user,
    '{ "mcpServers": {\n  "good": { "command": "x" },\n  "bad": { "command": 5 },\n  "a b": { "command": "x" }\n} }',
  );
  expect(names()).toEqual(["good of user"]);
  const { faults } = configuredServers(place);
  expect(faults).toHaveLength(2);
  expect(faults.join("\n")).toContain(`${user}:3:23: mcpServers.bad.command: found 5; expected the program to run.`);
  expect(faults.join("\n")).toContain(`${user}:4:3: mcpServers: `);
});

describe("S5, S6: the servers of a project", () => {
  const theirs = (command: string) =>
    put(join(place.cwd, ".mcp.json"), JSON.stringify({ mcpServers: { it: { command } } }));

  test("are shown and not used before it is trusted, nor after their command changed", () => {
    theirs("one");
    expect(configuredServers(place)).toMatchObject({ servers: [], untrusted: [{ name: "it", description: "one" }] });
    new TrustRecord(place).trust(place.cwd);
    expect(names()).toEqual(["it of project"]);
    theirs("two");
    expect(configuredServers(place)).toMatchObject({ servers: [], untrusted: [{ name: "it", description: "two" }] });
  });

  test("take the place of none of the user's", () => {
    theirs("theirs");
    addMcpServer(place, "it", { command: "mine" });
    new TrustRecord(place).trust(place.cwd);
    expect(configuredServers(place).servers).toMatchObject([{ name: "it", layer: "user", description: "mine" }]);
  });
});

test("B47: a server is added once, and taken away", async () => {
  expect(addMcpServer(place, "it", { command: "x", args: ["-y"] })).toBe(user);
  expect(() => addMcpServer(place, "it", { command: "y" })).toThrow('There is an MCP server "it" already');
  expect(() => addMcpServer(place, "bad", {})).toThrow(
    'The entry of the MCP server "bad" is invalid: expected an object with a',
  );
  expect(names()).toEqual(["it of user"]);
  expect(await removeMcpServer(place, "it")).toBe(user);
  expect(names()).toEqual([]);
  await expect(removeMcpServer(place, "it")).rejects.toThrow(
    'There is no MCP server "it" in your settings. None exist yet.',
  );
});
