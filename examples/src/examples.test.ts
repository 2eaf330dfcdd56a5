import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

/** A code block of a page; what it says of itself is `file=`, `input=` or `output=` and a path. */
interface Block {
  readonly page: string;
  readonly language: string;
  readonly is: string | undefined;
  readonly path: string;
  readonly body: string;
}

const docs = readdirSync(new URL("docs/", root)).filter((name) => name.endsWith(".md"));
const pages = ["README.md", ...docs.map((name) => `docs/${name}`)];
const blocks = pages.flatMap((page) =>
  [...read(page).matchAll(/^```(\w*)(?: (\w+)=(\S+))?\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", is, path = "", body = ""]): Block => ({ page, language, is, path, body }),
  ),
);
const samples = blocks.filter(({ language }) => ["ts", "js", "typescript", "javascript"].includes(language));
const promised = (is: "input" | "output", path: string) =>
  blocks.find((block) => block.is === is && block.path === path)?.body;

const programs = readdirSync(new URL(".", import.meta.url))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => `examples/src/${file}`);

/** Without the blanks at the ends of lines, which no editor keeps in a page. */
function trimmed(output: string): string {
  return output.replace(/[ \t]+$/gm, "").trim();
}

async function run(
  program: string,
  env: NodeJS.ProcessEnv = {},
  cwd = process.cwd(),
): Promise<{ stdout: string; stderr: string; status: number | null }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(program, root))], {
    cwd,
    env: { ...process.env, ...env },
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  child.stdin.end(promised("input", program));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, status };
}

/** Those that need more than to be run. */
const special = [
  "approval-next-day.ts",
  "durable-object.ts",
  "language-servers.ts",
  "next-route.ts",
  "recorded-node.ts",
  "reopen.ts",
  "smallest.ts",
  "socket-client.ts",
].map((name) => `examples/src/${name}`);

/** Programs that keep conversations in the folder in which they run. */
const SERVERS = ["bare-node.ts", "express.ts", "hono-use-chat.ts", "serve-agent.ts"].map(
  (name) => `examples/src/${name}`,
);

describe("each example runs, and says what its page promises", () => {
  test.each(programs.filter((program) => ![...special, ...SERVERS].includes(program)))("%s", async (program) => {
    const { stdout, stderr, status } = await run(program);
    expect(stderr).toBe("");
    expect(trimmed(stdout)).toBe(trimmed(promised("output", program) ?? "No page shows what this program prints."));
    expect(status).toBe(0);
  });

  test.each(SERVERS)("L1: %s, which serves an agent", async (program) => {
    const place = mkdtempSync(join(tmpdir(), "banyan-examples-"));
    try {
      const { stdout, stderr, status } = await run(program, {}, place);
      expect([stderr, status]).toEqual(["", 0]);
      expect(trimmed(stdout)).toBe(trimmed(promised("output", program) ?? "No page shows what this program prints."));
      expect(readdirSync(place)).toEqual(["conversations"]);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });

  test("L1: examples/src/next-route.ts, which Next.js calls", async () => {
    const place = mkdtempSync(join(tmpdir(), "banyan-examples-"));
    try {
      const route = new URL("next-route.ts", import.meta.url).href;
      const program = `import { GET, POST } from ${JSON.stringify(route)};
const headers = { cookie: "user=ada", origin: "https://app.example.com" };
const messages = [{ id: "1", role: "user", parts: [{ type: "text", text: "When do you open?" }] }];
const body = JSON.stringify({ id: "chat", messages });
const address = "https://app.example.com/api/chat";
const said = await POST(new Request(address, { method: "POST", headers, body }), { params: Promise.resolve({}) });
console.log(said.status, (await said.text()).includes("We open at nine."));
console.log((await GET(new Request(\`\${address}/chat\`, { headers }))).status, (await GET(new Request(\`\${address}/chat\`))).status);
process.exit();`;
      writeFileSync(join(place, "caller.ts"), program);
      const { stdout, stderr } = await run(join(place, "caller.ts"), {}, place);
      expect([stderr, stdout]).toEqual(["", "200 true\n200 401\n"]);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });

  test("L1: the server part for useChat has under 15 lines", () => {
    const lines = read("examples/src/hono-use-chat.ts").split("\n");
    const first = lines.findIndex((line) => line.startsWith("const api = handler("));
    const last = lines.findIndex((line) => line.startsWith("const server = serve("));
    const imports = lines.filter((line) => /^import .*(server|store|hono)/.test(line));
    expect(first).toBeGreaterThan(0);
    expect(last - first + 1 + imports.length).toBeLessThan(15);
  });

  test("examples/src/socket-client.ts, which needs a server", async () => {
    const place = mkdtempSync(join(tmpdir(), "banyan-examples-"));
    const BANYAN_TOKEN = "a-token-for-an-example";
    const main = fileURLToPath(new URL("packages/cli/src/main.ts", root));
    const server = spawn(process.execPath, [main, "serve", "--port", "0", "--model", "demo/offline"], {
      cwd: place,
      env: { ...process.env, BANYAN_HOME: join(place, "home"), BANYAN_TOKEN },
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      let said = "";
      server.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        said += chunk;
      });
      while (!said.includes("/?token=")) await once(server.stdout, "data");
      const [BANYAN_ADDRESS] = /http:\/\/[^/]*/.exec(said) ?? [];
      const { stdout, stderr, status } = await run("examples/src/socket-client.ts", { BANYAN_ADDRESS, BANYAN_TOKEN });
      expect(stderr).toBe("");
      expect(trimmed(stdout)).toBe(trimmed(promised("output", "examples/src/socket-client.ts") ?? ""));
      expect(status).toBe(0);
      expect(readdirSync(place)).toContain("oak.txt");
      expect(read("examples/src/socket-client.ts").trimEnd().split("\n").length).toBeLessThanOrEqual(35);
    } finally {
      server.kill();
      await once(server, "exit");
      rmSync(place, { recursive: true, force: true });
    }
  });

  test("L7: examples/src/recorded-node.ts, a test of node:test", async () => {
    const { stdout, stderr, status } = await run("examples/src/recorded-node.ts");
    expect(stdout).toMatch(/pass 1\n.*fail 0/);
    expect([stderr, status]).toEqual(["", 0]);
  });

  test("examples/src/reopen.ts, which finds its conversation again", async () => {
    const place = mkdtempSync(join(tmpdir(), "banyan-examples-"));
    try {
      const runs = [await run("examples/src/reopen.ts", {}, place), await run("examples/src/reopen.ts", {}, place)];
      expect(runs.map(({ stderr }) => stderr)).toEqual(["", ""]);
      expect(runs.map(({ stdout }) => stdout).join("")).toBe(promised("output", "examples/src/reopen.ts"));
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });

  test("examples/src/smallest.ts", async () => {
    const { stdout, stderr } = await run("examples/src/smallest.ts");
    expect(stdout).toMatch(/I am `demo\/offline`/);
    expect(stderr).toBe("");
  });
});

test.each(samples)("a sample in $page stands in $path, line for line", ({ is, path, body }) => {
  expect(is).toBe("file");
  expect(body.trim()).not.toBe("");
  expect(`\n${read(path)}`).toContain(`\n${body}`);
});

test("the pages have samples, and the chat has no more than 15 lines", () => {
  expect(samples.length).toBeGreaterThan(8);
  expect(read("examples/src/chat.ts").trimEnd().split("\n").length).toBeLessThanOrEqual(15);
});

test("B68: the program in the README prints the voice of its own agent alone, with sub-agents at work", async () => {
  const program = read("examples/src/smallest.ts");
  const model = `import { call, scriptedModel, text } from "@banyan/core/testing";
const model = scriptedModel(({ messages }) => {
  const asked = JSON.stringify(messages[0]);
  if (!asked.includes("What can you do?")) return [text("A sub-agent speaks."), call("finish_task", { result: "three" })];
  return messages.length === 1 ? [text("I ask. "), call("launch_agent", { task: "Count.", expected_output: "A number." })] : [text("It is three.")];
});`;
  const lines = program.split("\n");
  const scripted = lines.map((line) => (line.startsWith("const model =") ? model : line));
  expect(scripted).not.toEqual(lines);
  const place = mkdtempSync(fileURLToPath(new URL("examples/src/readme-", root)));
  try {
    writeFileSync(join(place, "program.ts"), scripted.join("\n"));
    const { stdout, stderr } = await run(`examples/src/${basename(place)}/program.ts`);
    expect(stderr).toBe("");
    expect(stdout).toBe("I ask. It is three.");
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

test("the README shows five whole programs of under ten lines", () => {
  const programs = samples.filter(({ page }) => page === "README.md");
  expect(programs.map(({ path, body }) => body === read(path))).toEqual([true, true, true, true, true]);
  for (const { path, body } of programs) expect(body.match(/^.*\S.*$/gm)?.length, path).toBeLessThan(10);
});
