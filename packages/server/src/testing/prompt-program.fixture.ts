import { createInterface } from "node:readline";

// A small MCP server on standard input and output with prompts. `show` has an image, `hang` never answers, `leave` ends the
// process, `refuse` fails and `empty` has no messages.

const { SECRET = "none" } = process.env;
const text = (words: string) => ({ role: "user", content: { type: "text", text: words } });
const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const prompts = [
  {
    name: "Show",
    description: "Shows a tree.",
    arguments: [{ name: "kind", description: "Which tree.", required: true }, { name: "how" }],
  },
  { name: "hang" },
  { name: "leave" },
  { name: "refuse" },
  { name: "empty" },
];

function said(name: string, values: Readonly<Record<string, string>> = {}): object | undefined {
  if (name === "hang") return undefined;
  if (name === "leave") process.exit(3);
  if (name === "empty") return { result: { messages: [] } };
  if (name === "refuse") return { error: { code: -32000, message: `Not with ${SECRET}.` } };
  const picture = { role: "user", content: { type: "image", mimeType: "image/png", data: PICTURE } };
  const words = `Show ${values.kind} ${values.how ?? "plainly"} with @src/sum.ts and ${SECRET}`;
  return { result: { messages: [text(words), picture] } };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const answers: Readonly<Record<string, object | undefined>> = {
    initialize: {
      result: {
        protocolVersion: "2025-11-25",
        capabilities: { prompts: {} },
        serverInfo: { name: "trees", version: "1" },
      },
    },
    "prompts/list": { result: { prompts } },
    "prompts/get": method === "prompts/get" ? said(params.name, params.arguments) : undefined,
    ping: { result: {} },
  };
  const answer = answers[method];
  if (id !== undefined && answer) process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
