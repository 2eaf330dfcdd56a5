import { describe, expect, test } from "vitest";
import { LARGEST_ANSWER, TOO_LARGE } from "./connection/message-lines.ts";
import { HttpPuppet } from "./testing/http-puppet.fixture.ts";
import { TestServers } from "./testing/surroundings.fixture.ts";

/** A server program whose tool answers with a number of letters, and with its process id. */
const program = (write: string) => `
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const tool = { name: "letters", inputSchema: { type: "object", properties: { count: { type: "integer" } } } };
    const result = method === "initialize"
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "large", version: "1" } }
      : method === "tools/list" ? { tools: [tool] }
      : method === "tools/call" ? { content: [{ type: "text", text: process.pid + "x".repeat(params.arguments.count) }] } : {};
    process.stdout.write(JSON.stringify(${write}) + "\\n");
  });`;

const FORMS = [
  ["in front of the result", '{ jsonrpc: "2.0", id, result }'],
  ["behind the result", '{ result, jsonrpc: "2.0", id }'],
] as const;

describe("F108: an error names an answer over the limit, and the server stays connected", () => {
  test.each(FORMS)("over a pipe, with the id %s", async (_, form) => {
    await using opened = await TestServers.settled({ it: { command: process.execPath, args: ["-e", program(form)] } });
    const before = await opened.call("mcp_it_letters", { count: 1 });
    for (let round = 0; round < 2; round++) {
      const failed = opened.call("mcp_it_letters", { count: LARGEST_ANSWER });
      await expect(failed).rejects.toThrow(TOO_LARGE);
    }
    expect(TOO_LARGE).toMatch(/larger than \d+ MiB, the limit for an answer of an MCP server/);
    expect(await opened.call("mcp_it_letters", { count: 1 })).toBe(before);
    expect(opened.statuses).toEqual(["it: ready"]);
  });

  test.each(["application/json", "text/event-stream"])("over HTTP, as %s", async (type) => {
    await using server = await HttpPuppet.open();
    let isLarge = true;
    server.instead = (message, response) => {
      if (message.method !== "tools/call" || !isLarge) return false;
      const result = { content: [{ type: "text", text: "x".repeat(LARGEST_ANSWER) }] };
      const text = JSON.stringify({ jsonrpc: "2.0", id: message.id, result });
      response.writeHead(200, { "content-type": type }).end(type === "application/json" ? text : `data: ${text}\n\n`);
      return true;
    };
    await using opened = await TestServers.settled({ it: { url: server.url } });
    await expect(opened.call("mcp_it_echo", { text: "a" })).rejects.toThrow(TOO_LARGE);
    isLarge = false;
    expect(await opened.call("mcp_it_echo", { text: "a" })).toContain("a");
    expect(opened.statuses).toEqual(["it: ready"]);
  });
});
