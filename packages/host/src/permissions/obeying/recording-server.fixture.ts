import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

/*
 * An MCP server whose tools accept any arguments and record them in a file. Arguments: the file, and the names of the
 * tools as JSON. Every other tool claims to be read-only.
 */
const [, , record = "", names = "[]"] = process.argv;
const tools = (JSON.parse(names) as string[]).map((name, index) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: "object" },
  annotations: { readOnlyHint: index % 2 === 0 },
}));

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  if (method === "tools/call") appendFileSync(record, `${JSON.stringify(params)}\n`);
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer(method, params) })}\n`);
}

function answer(method: string, params: { readonly protocolVersion?: string }): object {
  if (method === "initialize") {
    const serverInfo = { name: "recorder", version: "1" };
    return { result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } };
  }
  if (method === "tools/list") return { result: { tools } };
  if (method === "tools/call") return { result: { content: [{ type: "text", text: "done" }] } };
  return { error: { code: -32601, message: "There is no such method here" } };
}
