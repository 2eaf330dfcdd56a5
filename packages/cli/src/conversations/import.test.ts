import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const FIXTURES = fileURLToPath(new URL("../../../host/src/exchange/programs/fixtures", import.meta.url));

let place: Home;
let own: string;
beforeEach(() => {
  place = home();
  own = place.env.HOME ?? "";
  cpSync(join(FIXTURES, "claude-code"), join(own, ".claude", "projects"), { recursive: true });
  cpSync(join(FIXTURES, "codex"), join(own, ".codex", "sessions"), { recursive: true });
  // The fixture of pi belongs to the current folder.
  const sessions = join(own, ".pi", "agent", "sessions", "--here--");
  cpSync(join(FIXTURES, "pi", "--project--"), sessions, { recursive: true });
  for (const name of readdirSync(sessions)) {
    const text = readFileSync(join(sessions, name), "utf8");
    writeFileSync(join(sessions, name), text.replaceAll("/project", realpathSync(place.workspace)));
  }
});
afterEach(() => place[Symbol.dispose]());

async function imported(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await banyan(place, ["conversations", "import", ...args]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

test("B56: without a choice, the command lists this machine's conversations, this folder's first, and imports nothing", async () => {
  const lines = (await imported()).trimEnd().split("\n");
  expect(lines).toHaveLength(8);
  expect(lines[1]).toMatch(/^1 +pi +\d{4}-\d\d-\d\d \d\d:\d\d +write a file$/);
  expect(lines.slice(3, 7).join("\n")).toMatch(/Claude Code .* write a file +\/project/);
  expect(lines.join("\n")).toMatch(/Codex .* forked question/);
  expect(lines.at(-1)).toBe(
    "To import sessions, add --here, --all, or the path of a file or folder to banyan conversations import.",
  );
  expect((await banyan(place, ["conversations", "list", "--all"])).stdout).toContain("no conversations yet");
});

test("B56: an import names the imported and the omitted parts; a second import duplicates nothing", async () => {
  const here = await imported("--here");
  expect(here).toMatch(/^pi, “write a file”: 22 messages, as \w+$/m);
  expect(here).toMatch(/^pi, “write a file”: 3 messages, as \w+\n {2}a fork of the session \S+ of pi: /m);
  expect(await imported("--from", "claude-code", "--all")).toMatch(
    /^Claude Code, .*: \d+ messages, as \w+\nClaude Code, /,
  );
  const again = await imported("--all");
  expect(again.match(/already imported as/g)).toHaveLength(4);
  expect(again.match(/^Codex.* messages, as /gm)).toHaveLength(2);
  const { stdout } = await banyan(place, ["conversations", "list", "--all", "-o", "json"]);
  expect(JSON.parse(stdout)).toHaveLength(6);
});

test("S36: the first words of a session are listed and named without secrets", async () => {
  const key = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
  const sessions = join(own, ".pi", "agent", "sessions", "--here--");
  for (const name of readdirSync(sessions)) {
    const text = readFileSync(join(sessions, name), "utf8");
    writeFileSync(join(sessions, name), text.replaceAll("write a file", `use ${key} to write a file`));
  }
  const told = (await imported()) + (await imported("--here"));
  expect(told.match(/use \[redacted:github-token\] to write a file/g)).toHaveLength(4);
  expect(told).not.toContain(key.slice(0, 12));
});

test("S36: an import asks nothing about a call that was open in the session, and its export shows the whole command", async () => {
  const file = join(own, ".claude", "projects", "-project", "open.jsonl");
  const command = `for f in *; do\n  echo "$f"\n  rm -rf "./${"long/".repeat(30)}$f"\ndone`;
  const line = (uuid: string, parentUuid: string | null, type: string, content: unknown) =>
    JSON.stringify({
      uuid,
      parentUuid,
      type,
      sessionId: "open",
      cwd: "/project",
      timestamp: "2026-01-01T00:00:00.000Z",
      message: { role: type, content, ...(type === "assistant" && { model: "claude" }) },
    });
  const call = { type: "tool_use", id: "t", name: "Bash", input: { command } };
  writeFileSync(file, `${line("a", null, "user", "tidy up")}\n${line("b", "a", "assistant", [call])}\n`);
  const [, id = ""] = /as (\w+)$/m.exec(await imported(file)) ?? [];
  const told = async (...args: readonly string[]) => (await banyan(place, ["conversations", ...args])).stdout;
  expect(await told("list", "--all", "--waiting")).not.toContain("Bash");
  expect(await told("show", id)).toMatch(/Bash {2}for f in .*… cancelled/);
  expect(await told("export", id)).toContain(JSON.stringify(command));
});

test("B56: a file, a folder or nothing of the kind, by its path", async () => {
  const file = join(own, ".claude", "projects", "-project", "d010c959-ed08-47fe-8bd3-7a9f0d7f31a9.jsonl");
  writeFileSync(file, `${readFileSync(file, "utf8").trimEnd()}\n{"half`);
  expect(await imported(file)).toMatch(
    /^Claude Code, “write a file”: 13 messages, as (\w+)\n {2}not taken: a damaged line: the JSON ends too early \(line \d+\)\nbanyan --resume \1\n$/,
  );
  expect((await imported(join(own, ".codex"))).match(/^Codex, /gm)).toHaveLength(2);
  const refused = async (...args: readonly string[]) =>
    (await banyan(place, ["conversations", "import", ...args])).stderr;
  mkdirSync(join(place.workspace, "empty"));
  expect(await refused("empty")).toBe("banyan: empty contains no session of another program.\n");
  expect(await refused(file, "--from", "codex")).toContain("no session of Codex.");
  expect(await refused("--from", "emacs")).toContain("claude-code, codex, pi, opencode");
  rmSync(join(own, ".pi"), { recursive: true });
  expect(await imported("--from", "pi")).toBe("No session of pi was found on this machine.\n");
});

test.each([
  ["claude-code", "after that"],
  ["codex", "after that"],
  ["pi", "after that"],
])(
  "B56: a session of %s goes on, from its end and from another branch, and its model is sent each call with its result",
  async (from) => {
    const whole = await imported("--from", from, "--all");
    const [, id = ""] =
      /: (?:1[4-9]|2\d) messages, as (\w+)/.exec(
        whole.split("\n").findLast((line) => /2\d messages/.test(line)) ?? "",
      ) ?? [];
    await using server = await modelServer({ text: "Gone on." });
    const goOn = async (...at: readonly string[]) => {
      const { code, stdout, stderr } = await banyan(
        place,
        ["-p", "go on", "--resume", id, ...at, "--model", "openai-compatible/test"],
        { env: { ...server.env } },
      );
      expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: "Gone on.\n" });
      return server.asked.at(-1) as readonly {
        role: string;
        content: unknown;
        tool_calls?: { id: string }[];
        tool_call_id?: string;
      }[];
    };
    const summed = JSON.stringify(await goOn());
    expect(summed).toContain("notes.txt was written and edited");
    expect(summed).not.toContain("another way");
    // The first branch ends with the failure, or with a message after it.
    const { stdout } = await banyan(place, ["conversations", "export", id]);
    const events: { type: string; message: string; parts?: { text?: string }[] }[] = JSON.parse(stdout).events;
    const failed = events.find(
      (event) => event.type === "message.completed" && event.parts?.[0]?.text === "That failed.",
    );
    const asked = await goOn("--at", failed?.message ?? "");
    expect(asked.at(-1)).toMatchObject({ role: "user", content: "go on" });
    const open = new Set<string>();
    for (const message of asked) {
      if (message.role === "tool") expect(open.delete(message.tool_call_id ?? "")).toBe(true);
      else expect(open.size).toBe(0);
      for (const call of message.tool_calls ?? []) open.add(call.id);
    }
    expect(asked.filter(({ role }) => role === "tool").length).toBeGreaterThanOrEqual(3);
  },
);

test.runIf(hasTmux)("B56: at a terminal a person chooses by numbers", async () => {
  using terminal = Pty.open(place, ["conversations", "import"]);
  await terminal.until("Type the numbers of the sessions to import, such as 1 3-5, or nothing to leave:");
  terminal.type("1\r");
  await terminal.until("messages, as");
});
