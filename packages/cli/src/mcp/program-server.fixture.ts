import { createInterface } from "node:readline";

/*
 * A small MCP server on standard input and output. With `broken` as its argument it complains and ends. What it is
 * asked for goes to standard error.
 */
if (process.argv[2] === "broken") {
  process.stderr.write("KEY is not set\n");
  process.exit(3);
}
const answers: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, prompts: {}, resources: {} },
    serverInfo: { name: "small", version: "1" },
  },
  "tools/list": { tools: [{ name: "add", description: "Adds \u001b[31mtwo.", inputSchema: { type: "object" } }] },
  "prompts/list": {
    prompts: [
      { name: "greet", description: "Says hello.", arguments: [{ name: "who", required: true }, { name: "how" }] },
    ],
  },
  "resources/list": { resources: [{ uri: "note://one", name: "The first note" }] },
  "resources/templates/list": { resourceTemplates: [{ uriTemplate: "note://{id}", name: "Any note" }] },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  process.stderr.write(`${method}\n`);
  if (id !== undefined)
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: answers[method] ?? {} })}\n`);
}
