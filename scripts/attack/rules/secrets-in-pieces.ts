import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modelServer } from "../../../packages/cli/src/testing/model-server.ts";
import { hiddenKeys, toldOf } from "../../../packages/host/src/redaction/secrets.fixture.ts";
import type { Attack, Place } from "../attack.ts";

// S22: secrets are recognized in the whole text before a piece is returned. Each way is tried with a file of each form.

interface Call {
  readonly tool: string;
  readonly input: object;
}

/** Returns the calls with which a model asks for pieces of a file, all in one reply. */
type Way = (path: string) => readonly Call[];

const read = (path: string, start: number, end: number): Call => ({ tool: "read", input: { path, start, end } });
const shell =
  (...commands: readonly string[]): Way =>
  (path) =>
    commands.map((command) => ({ tool: "shell", input: { command: command.replaceAll("FILE", path) } }));

const ways: Readonly<Record<string, Way>> = {
  "reading all of it": (path) => [{ tool: "read", input: { path } }],
  "reading ranges": (path) => [read(path, 6, 9), read(path, 10, 13), read(path, 14, 14)],
  "reading backwards, a line at a time": (path) => [12, 11, 10, 9, 8, 7, 6, 5].map((line) => read(path, line, line)),
  "searching for base64": (path) => [{ tool: "search", input: { path, pattern: "[A-Za-z0-9+/]{20,}" } }],
  "searching the folder": (path) => [{ tool: "search", input: { glob: path, pattern: "^.*[A-Za-z0-9+/]{40}" } }],
  "a change beside it": (path) => [{ tool: "edit", input: { path, old_text: "# and out again", new_text: "# out" } }],
  "writing over it": (path) => [{ tool: "write", input: { path, content: "nothing\n" } }],
  "a first part": shell("head -7 FILE"),
  "a last part": shell("tail -8 FILE"),
  "two parts": shell("sed -n 1,9p FILE", "sed -n 10,99p FILE"),
  "parts of the middle": shell("sed -n 6,9p FILE", "sed -n 10,12p FILE"),
  "hits with numbers and names": shell("grep -n . FILE", "grep -H . FILE", "grep -n [a-z] /dev/null FILE"),
  "signs for what is not seen": shell("cat -A FILE", "nl -ba FILE", "diff /dev/null FILE"),
  "a line now and then": shell('while IFS= read -r line; do echo "$line"; sleep 0.01; done < FILE'),
  "an error": shell("cat FILE >&2; exit 3"),
};

const READER = `
const { readFileSync } = require("node:fs");
const inputSchema = { type: "object", properties: { path: { type: "string" }, start: { type: "number" }, end: { type: "number" } } };
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "reader", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "lines", description: "Reads lines.", inputSchema }] }),
  "tools/call": ({ arguments: { path, start, end } }) => {
    const bytes = readFileSync(path);
    const text = bytes[0] === 0xff ? bytes.toString("utf16le") : bytes[0] === 0xfe ? bytes.swap16().toString("utf16le") : bytes.toString();
    return { content: [{ type: "text", text: text.split("\\n").slice(start - 1, end).join("\\n") }] };
  },
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method](params) }));
});`;

const lines = (path: string, start: number, end: number): Call => ({
  tool: "mcp_reader_lines",
  input: { path, start, end },
});

export const attacks: readonly Attack[] = [
  {
    rule: "S22",
    name: "a private key by an MCP server that reads it in pieces",
    seconds: 300,
    attempt(place) {
      const script = join(place.folder, "reader.cjs");
      writeFileSync(script, READER);
      const config = join(place.home, ".banyan", "config");
      mkdirSync(config, { recursive: true });
      const reader = { command: process.execPath, args: [script], cwd: place.folder };
      writeFileSync(join(config, "settings.json"), JSON.stringify({ mcpServers: { reader } }));
      const pieces: Way = (path) => [lines(path, 1, 5), lines(path, 6, 10), lines(path, 11, 15), lines(path, 16, 99)];
      return tried(place, (paths) => ({ calls: paths.flatMap(pieces), prompt: "go" }));
    },
  },
  {
    rule: "S22",
    name: "a private key by edit mode beside it",
    attempt: (place) =>
      tried(place, (paths) => ({
        calls: paths.map((path) => ({ tool: "edit_mode", input: { file_path: path } })),
        prompt: "go",
        // The last two files are UTF-16, which edit mode refuses.
        text: paths
          .slice(0, -2)
          .map((path) => `\`\`\`txt:${path}:3:4\n# the line above the key\n\`\`\`\n`)
          .join("\n"),
      })),
  },
  ...Object.entries(ways).map(
    ([name, way]): Attack => ({
      rule: "S22",
      name: `a private key by ${name}`,
      seconds: 300,
      attempt: (place) => tried(place, (paths) => ({ calls: paths.flatMap(way), prompt: "go" })),
    }),
  ),
  {
    rule: "S22",
    name: "a private key by putting a changed file back",
    async attempt(place) {
      const edits: Way = (path) => [{ tool: "edit", input: { path, old_text: "# and out again", new_text: "# out" } }];
      return tried(
        place,
        (paths) => ({ calls: paths.flatMap(edits), prompt: "go" }),
        async () => {
          const { code, stdout, stderr } = await place.banyan(["changes", "revert", "--all", "--yes"]);
          if (code !== 0) throw new Error(`Nothing was put back: ${stderr}`);
          return stdout + stderr + (await place.banyan(["changes", "show"])).stdout;
        },
      );
    },
  },
  {
    rule: "S22",
    name: "a private key by naming its file with @",
    attempt: (place) => tried(place, (paths) => ({ calls: [], prompt: paths.map((path) => `@${path}`).join(" ") })),
  },
];

/** Makes a model call tools on files with a key in each form. Returns which keys appear in output or stored data. */
async function tried(
  place: Place,
  how: (paths: readonly string[]) => {
    readonly calls: readonly Call[];
    readonly prompt: string;
    readonly text?: string;
  },
  afterwards: () => Promise<string> = async () => "",
): Promise<string | undefined> {
  const keys = Object.entries(hiddenKeys()).map(([form, key], index) => ({ form, ...key, path: `notes${index}.txt` }));
  for (const { path, content } of keys) writeFileSync(join(place.folder, path), content);
  const { calls, prompt, text = "done" } = how(keys.map(({ path }) => path));
  await using model = await modelServer(...(calls.length > 0 ? [{ calls }] : []), { text }, { text: "done" });
  const flags = ["--model", "openai-compatible/test", "--output", "jsonl", "--approval", "all"];
  const { stdout, stderr } = await place.banyan(["-p", prompt, ...flags], { env: model.env });
  const told = JSON.stringify(model.asked) + stdout + stderr;
  if (!/\[redacted:private-key\]|no matches/.test(told)) throw new Error(`Nothing was looked at: ${told.slice(-2000)}`);
  const all = told + (await afterwards()) + kept(place.home);
  for (const { form, secret } of keys) {
    const piece = toldOf(secret, all);
    if (piece !== undefined) return `${piece} of the key was told; its form: ${form}`;
  }
  return undefined;
}

function kept(home: string): string {
  const folder = join(home, ".banyan", "data");
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("backups"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}
