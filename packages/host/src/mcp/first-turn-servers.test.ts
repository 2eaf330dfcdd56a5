import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { openServers, serversForFirstTurn, waitForServers } from "./index.ts";

test("B47: a missing server is named once with the reason; ready and disabled servers are not", async () => {
  const place = { env: {}, home: tmpdir(), cwd: tmpdir() };
  await using servers = await openServers(place, {
    slow: { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to a user's variable, as entries write it
    unset: { command: "x", env: { KEY: "${NOT_SET}" } },
    ended: { command: process.execPath, args: ["-e", "process.exit(3)"] },
    off: { command: "x", disabled: true },
  });
  await servers.reconnect("ended");
  expect(await waitForServers(servers, AbortSignal.abort())).toEqual([
    "The MCP server slow is still starting. Its tools will be available with a later message.",
    'The MCP server "unset" needs the environment variable NOT_SET. Set the variable and restart the program.',
    "The MCP server ended cannot be used: it ended with exit code 3.",
  ]);
});

test("F50: one line reports invalid entries in a server's lists", async () => {
  const tools = [
    { name: "fine", inputSchema: { type: "object" } },
    { name: "odd", inputSchema: 7 },
  ];
  const program = `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const result = method === "initialize"
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
      : { tools: ${JSON.stringify(tools)} };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });`;
  const place = { env: {}, home: tmpdir(), cwd: tmpdir() };
  await using servers = await openServers(place, { garden: { command: process.execPath, args: ["-e", program] } });
  expect(await waitForServers(servers, new AbortController().signal)).toEqual([
    "The MCP server garden breaks the MCP protocol: the tool odd is left out: its inputSchema violates the protocol.",
  ]);
});

test("B47: no turn waits longer than for slow servers", async () => {
  const place = { env: {}, home: tmpdir(), cwd: tmpdir() };
  await using servers = await openServers(place, { gone: { command: "/no/such/program" } });
  expect(await waitForServers(servers, new AbortController().signal)).toEqual([
    expect.stringMatching(/^The MCP server gone cannot be used: /),
  ]);
});

test("B83: the first turn names the servers that it waits for, and an impatient user continues without them", async () => {
  const place = { env: {}, home: tmpdir(), cwd: tmpdir() };
  const slow = { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] };
  await using servers = await openServers(place, { slow, gone: { command: "/no/such/program" } });
  const impatience = new AbortController();
  const told: string[] = [];
  const waiting = (sentence: string) => {
    told.push(sentence);
    impatience.abort();
  };
  const missing = await serversForFirstTurn(servers, { signal: impatience.signal, waiting });
  expect(told).toEqual(["Waiting for the MCP server slow, for at most 30 s."]);
  expect(missing).toEqual([
    "The MCP server slow is still starting. Its tools will be available with a later message.",
    expect.stringMatching(/^The MCP server gone cannot be used: /),
  ]);
  // A server that is lost later delays no turn, and no notice is repeated.
  const later = new AbortController();
  expect(await serversForFirstTurn(servers, { signal: later.signal, waiting: () => later.abort("it waited") })).toEqual(
    [],
  );
  expect(later.signal.aborted).toBe(false);
});
