import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { type ModelServer, modelServer } from "../testing/model-server.ts";

const MODEL = ["--model", "openai-compatible/test"];
const SERVER = fileURLToPath(new URL("../mcp/program-server.fixture.ts", import.meta.url));

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

function put(path: string, ...lines: readonly string[]): void {
  const file = join(place.workspace, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.join("\n"));
}

/** Text of the last user message in the model's request. */
function said({ asked }: ModelServer): string {
  const content = asked.at(-1)?.findLast(({ role }) => role === "user")?.content;
  if (typeof content === "string") return content;
  return (content as readonly { readonly text: string }[]).map(({ text }) => text).join("\n");
}

describe("C18, K11: /name at the beginning of a prompt", () => {
  test("sends the text of a project's command with its arguments, and attaches the files that it names", async () => {
    put(".banyan/commands/hi.md", "---", "description: Greets", "---", "Say hello to $1, who wrote @a.txt.");
    put("a.txt", "apples");
    await using server = await modelServer({ text: "Hello." });
    expect(await banyan(place, ["-p", "/hi Bo", "--trust", ...MODEL], server)).toMatchObject({
      code: 0,
      stdout: "Hello.\n",
    });
    expect(said(server)).toMatch(/^Say hello to Bo, who wrote @a\.txt\.\n+<file name="a\.txt">\napples/);
    expect((await banyan(place, ["-p", "/HI", "Bo", "--trust", ...MODEL], server)).code).toBe(0);
    expect(said(server)).toMatch(/^Say hello to Bo, who wrote/);
  });

  test("keeps standard input behind the command's text, where @ names nothing", async () => {
    put(".claude/commands/sum.md", "Sum up in $1.");
    put("a.txt", "apples");
    await using server = await modelServer({ text: "Done." });
    const run = await banyan(place, ["-p", "/sum German", "--trust", ...MODEL], { ...server, input: "See @a.txt" });
    expect(run.code).toBe(0);
    expect(said(server)).toBe("Sum up in German.\n\nStandard input:\n\nSee @a.txt");
  });

  test("sends a prompt of an MCP server, and names a missing argument", async () => {
    const settings = join(place.env.BANYAN_HOME ?? "", "config", "settings.json");
    mkdirSync(dirname(settings), { recursive: true });
    const mcpServers = { small: { command: process.execPath, args: [SERVER] } };
    writeFileSync(settings, JSON.stringify({ mcpServers }));
    await using server = await modelServer({ text: "Hello." });
    const run = await banyan(place, ["-p", "/small:greet Ann very warmly", ...MODEL], server);
    expect(run).toMatchObject({ code: 0, stdout: "Hello.\n" });
    expect(said(server)).toBe('Greet {"who":"Ann","how":"very warmly"} empty');
    const lacking = await banyan(place, ["-p", "/small:greet", ...MODEL], server);
    expect(lacking).toMatchObject({ code: 2, stdout: "" });
    expect(lacking.stderr).toContain("/small:greet needs who.");
    const none = await banyan(place, ["-p", "/small:great Ann", ...MODEL], server);
    expect(none.stderr).toContain("There is no prompt /small:great. Did you mean /small:greet?");
    expect([none.code, server.asked.length]).toEqual([2, 1]);
  });

  test.each([
    [
      "an unknown name",
      ["-p", "/definitely-not:there"],
      "There is no prompt /definitely-not:there. There are: /hi. To send",
    ],
    ["a slip, in a task", ["run", "/hii", "Bo"], "There is no prompt /hii. Did you mean /hi? To send this as text,"],
    ["a command of the chat", ["-p", "/model x"], "/model works in a chat only. Start banyan and type it there."],
  ])("%s is a mistake: exit code 2, no request and no conversation", async (_, args, sentence) => {
    put(".banyan/commands/hi.md", "Say hello to $1.");
    await using server = await modelServer({ text: "Never." });
    const run = await banyan(place, [...args, "--trust", "-o", "json", ...MODEL], server);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(sentence);
    expect(JSON.parse(run.stdout)).toMatchObject({ reason: "usage", exitCode: 2, conversation: null });
    expect(server.asked).toEqual([]);
    expect((await banyan(place, ["conversations"])).stdout).not.toContain("hi");
  });

  test("a command of an untrusted project is not sent, and the user gets a message", async () => {
    put(".banyan/commands/hi.md", "Say hello to $1.");
    await using server = await modelServer({ text: "Never." });
    const run = await banyan(place, ["-p", "/hi Bo", ...MODEL], server);
    expect([run.code, server.asked.length]).toEqual([2, 0]);
    expect(run.stderr).toContain("--trust turns them on");
    expect(run.stderr).toContain("There is no prompt /hi.");
  });

  test.each(["/usr/bin/env is missing", "/tmp is full", "//", "- fix this", "--help me"])(
    "%j is words",
    async (words) => {
      put(".banyan/commands/hi.md", "Say hello to $1.");
      await using server = await modelServer({ text: "I see." });
      expect(await banyan(place, ["-p", words, "--trust", ...MODEL], server)).toMatchObject({
        code: 0,
        stdout: "I see.\n",
      });
      expect(said(server)).toBe(words);
    },
  );

  test("/init and /review work as in a chat; without changes there is nothing to review and no request", async () => {
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.example", ...args], { cwd: place.workspace });
    git("init", "-q");
    put("a.txt", "one");
    git("add", ".");
    git("commit", "-qm", "one");
    await using server = await modelServer({ text: "No findings." });
    // git runs only in the sandbox.
    const there = { env: { ...server.env, BANYAN_SANDBOX: "auto" } };
    const none = await banyan(place, ["-p", "/review", ...MODEL], there);
    expect(none.stderr).toContain("There is nothing to review");
    expect([none.code === 0, server.asked.length]).toEqual([false, 0]);
    put("a.txt", "two");
    const run = await banyan(place, ["-p", "/review", ...MODEL], there);
    expect(run).toMatchObject({ code: 0, stdout: "No findings.\n" });
    expect(said(server)).toMatch(/^Review these changes: @diff\n+<diff name="diff">\n.*\+two/s);
    expect(String(server.asked[0]?.[0]?.content)).toContain("You review another author");
    expect((await banyan(place, ["-p", "/init tests", ...MODEL], there)).code).toBe(0);
    expect(said(server)).toMatch(/^Write AGENTS\.md.*Most important to me: tests$/s);
  });
});
