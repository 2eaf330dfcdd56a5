// An agent with the tools of an MCP server. The server is a program of a few lines on standard input and output.
import { Agent } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { openMcpServers } from "@banyan/tools/mcp";

const server = `
  const tools = [{ name: "season", description: "Tells the season.", inputSchema: { type: "object" } }];
  const answers = {
    initialize: ({ protocolVersion }) =>
      ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "garden", version: "1" } }),
    "tools/list": () => ({ tools }),
    "tools/call": () => ({ content: [{ type: "text", text: "It is autumn." }] }),
  };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} }));
  });`;

await using servers = openMcpServers({
  servers: { garden: { command: process.execPath, args: ["-e", server] } },
  workspace: process.cwd(),
  env: process.env,
});
await servers.settled();
for (const { name, status } of servers.states) console.log(`${name}: ${status}`);

const model = scriptedModel([[call("mcp_garden_season")], "Then I shall rake the leaves."]);
const turn = await new Agent({ model, tools: servers.tools }).send("What is to be done?");
console.log(turn.text);
