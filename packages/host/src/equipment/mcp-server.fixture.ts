// The smallest MCP server that tests need: one tool, over standard input and output, a JSON-RPC message a line.
import { createInterface } from "node:readline";

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string };
}

const count = { name: "count", description: "Counts the notes.", inputSchema: { type: "object" } };

function answer({ method, params }: Request): object {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "notes", version: "1" },
      };
    case "tools/list":
      return { tools: [count] };
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
