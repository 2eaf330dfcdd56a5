// A minimal MCP server for tests: one tool, and those that its first argument names, over standard input and output, one
// JSON-RPC message per line. The second argument is its instructions.
import { createInterface } from "node:readline";

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string };
}

const count = { name: "count", description: "Counts the notes.", inputSchema: { type: "object" } };
const [more = "", said] = process.argv.slice(2);
const tools = more.split(",").filter((name) => name !== "");
const others = tools.map((name) => ({
  name,
  description: `Works on ${name}. ${"All of its arguments are described at length. ".repeat(6)}`,
  inputSchema: {
    type: "object",
    properties: { id: { type: "integer", description: `Of the ${name}.` }, text: { type: "string" } },
    required: ["id"],
  },
}));

function answer({ method, params }: Request): object {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "notes", version: "1" },
        ...(said !== undefined && { instructions: said }),
      };
    case "tools/list":
      return { tools: [count, ...others] };
    case "tools/call":
      return { content: [{ type: "text", text: "three notes" }] };
    default:
      return {};
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  if (request.id === undefined) continue;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: request.id, result: answer(request) })}\n`);
}
