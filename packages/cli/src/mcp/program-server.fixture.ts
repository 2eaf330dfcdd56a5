import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

/*
 * A small MCP server on standard input and output. With the argument `broken` it prints an error and exits. With
 * `late` and a path it does not answer before that file exists. Requests are copied to standard error. Prompts,
 * resources and its instructions end with the variable NOTE; call results end with their trace.
 */
if (process.argv[2] === "broken") {
  process.stderr.write("KEY is not set\n");
  process.exit(3);
}
const starter = process.ppid;
if (process.argv[2] === "late")
  while (!existsSync(process.argv[3] ?? "")) {
    // A killed parent cannot end this process, which reads no input meanwhile.
    if (process.ppid !== starter) process.exit();
    await setTimeout(20);
  }
const { NOTE: note = "empty" } = process.env;
const answers: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, prompts: {}, resources: {} },
    serverInfo: { name: "small", version: "1" },
    instructions: `Add before you greet.\nThe note is ${note}`,
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
/** Answers that depend on the request. */
function filledIn(
  method: string,
  params: { readonly arguments?: object; readonly uri?: string; readonly _meta?: { readonly traceparent?: string } },
): object | undefined {
  const text = `${JSON.stringify(params.arguments)} ${note}`;
  if (method === "prompts/get")
    return { messages: [{ role: "user", content: { type: "text", text: `Greet ${text}` } }] };
  if (method === "resources/read") return { contents: [{ uri: params.uri, text: `Read ${params.uri} ${note}` }] };
  const trace = params._meta?.traceparent === undefined ? "" : ` in ${params._meta.traceparent}`;
  return method === "tools/call" ? { content: [{ type: "text", text: `Added ${text}${trace}` }] } : undefined;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  process.stderr.write(`${method}\n`);
  if (id !== undefined)
    process.stdout.write(
      `${JSON.stringify({ jsonrpc: "2.0", id, result: filledIn(method, params) ?? answers[method] ?? {} })}\n`,
    );
}
