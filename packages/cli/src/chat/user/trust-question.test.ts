import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TrustRecord } from "@banyan/host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../../testing/banyan.ts";
import { modelServer } from "../../testing/model-server.ts";
import { hasTmux, Pty } from "../../testing/pty.ts";

const MODEL = ["--plain", "--model", "openai-compatible/test"];
const DEMO = ["--plain", "--model", "demo/offline"];

let place: Home;
beforeEach(() => {
  place = home();
  mkdirSync(join(place.workspace, ".git"));
});
afterEach(() => place[Symbol.dispose]());

function put(path: string, text: string): void {
  mkdirSync(join(place.workspace, path, ".."), { recursive: true });
  writeFileSync(join(place.workspace, path), text);
}

function record(): TrustRecord {
  return new TrustRecord({ env: place.env, home: "" });
}

// These tests run the command in tmux.
describe.skipIf(!hasTmux)("S5: the question whether a project may be used", () => {
  test("is not asked where a project brings nothing", async () => {
    put("README.md", "hello");
    using pty = Pty.open(place, DEMO);
    expect(await pty.prompted()).not.toContain("Use them?");
  });

  test("S6: the question shows the project's exact content; yes uses the content from now on, without another question", async () => {
    await using server = await modelServer({ text: "Yes, sir." });
    put("AGENTS.md", "Say sir.");
    put(".mcp.json", '{"mcpServers":{"docs":{"command":"no-such-npx","args":["-y","docs server"]}}}');
    put(".banyan/settings.json", '{"permissions":{"allow":["shell(npm test*)"]}}');
    {
      using pty = Pty.open(place, MODEL, server.env);
      const screen = await pty.until("Use them?");
      expect(screen).toContain(
        `This project has its own settings or instructions:\n${realpathSync(place.workspace)}\n`,
      );
      expect(screen).toContain('  MCP server docs: no-such-npx -y "docs server"\n');
      expect(screen).toContain("    rule shell(npm test*): runs without asking\n");
      expect(screen).toContain("    instructions AGENTS.md\n");
      expect(screen).toContain("  1  Yes, use them\n");
      pty.enter("1");
      await pty.prompted();
      pty.enter("hello");
      await pty.until("Yes, sir.");
      expect(JSON.stringify(server.asked[0])).toContain("Say sir.");
    }
    expect(record().trustOf(place.workspace)).toEqual({ state: "trusted" });
    using again = Pty.open(place, MODEL, server.env);
    expect(await again.prompted()).not.toContain("Use them?");
  });

  test("S14: is not answered by Enter or a stray key; left alone, nothing is used and nothing is kept", async () => {
    await using server = await modelServer({ text: "Hello." });
    put("AGENTS.md", "Say sir.");
    using pty = Pty.open(place, MODEL, server.env);
    await pty.until("Use them?");
    pty.press("Enter");
    await pty.until("You have not decided yet.");
    pty.enter("ok");
    await pty.until("You have not decided yet.", 2);
    pty.press("C-c");
    await pty.prompted();
    pty.enter("hello");
    await pty.until("Hello.");
    expect(JSON.stringify(server.asked[0])).not.toContain("Say sir.");
    expect(record().trustOf(place.workspace).state).toBe("unknown");
  });

  test("no is kept too, and --trust takes it back", async () => {
    put("AGENTS.md", "Say sir.");
    {
      using pty = Pty.open(place, DEMO);
      await pty.until("Use them?");
      pty.enter("3");
      await pty.prompted();
    }
    expect(record().trustOf(place.workspace)).toEqual({ state: "distrusted" });
    {
      using pty = Pty.open(place, DEMO);
      const screen = await pty.prompted();
      expect(screen).toContain(
        "This project's settings and instructions are not used, as you decided. --trust turns them on.",
      );
      expect(screen).not.toContain("Use them?");
    }
    using pty = Pty.open(place, [...DEMO, "--trust"]);
    expect(await pty.prompted()).not.toContain("Use them?");
    expect(record().trustOf(place.workspace)).toEqual({ state: "trusted" });
  });

  test("S6: comes again for what can act and is new, and for that alone", async () => {
    put("AGENTS.md", "Say sir.");
    put(".banyan/commands/a.md", "A.");
    record().trust(place.workspace);
    put("AGENTS.md", "Say madam.");
    put(".banyan/commands/b.md", "B.");
    using pty = Pty.open(place, DEMO);
    const screen = await pty.until("Use them?");
    expect(screen).toContain("The settings or instructions of this project have changed since you agreed to them");
    expect(screen).toContain("    command b: .banyan/commands/b.md\n");
    expect(screen).not.toContain("command a");
    expect(screen).not.toContain("AGENTS.md");
  });
});

describe("S5: print mode", () => {
  async function asked(...args: readonly string[]): Promise<{ readonly stderr: string; readonly asked: string }> {
    await using server = await modelServer({ text: "Hello." });
    const { code, stderr } = await banyan(place, ["-p", "hello", ...MODEL, ...args], { env: { ...server.env } });
    expect(code).toBe(0);
    return { stderr, asked: JSON.stringify(server.asked) };
  }

  test("print mode trusts no project, despite a decision in a chat, and says so", async () => {
    put("AGENTS.md", "Say sir.");
    record().trust(place.workspace);
    const { stderr, asked: sent } = await asked();
    expect(sent).not.toContain("Say sir.");
    expect(stderr).toContain("This project's settings and instructions are not used. --trust turns them on.");
  });

  test("--trust uses a project for this run, and keeps nothing", async () => {
    put("AGENTS.md", "Say sir.");
    const { stderr, asked: sent } = await asked("--trust");
    expect(sent).toContain("Say sir.");
    expect(stderr).not.toContain("--trust");
    expect(() => readFileSync(record().file)).toThrow("ENOENT");
  });

  test("B48: --instructions adds a text, or a file", async () => {
    put("task.md", "Speak in rhymes.");
    expect((await asked("--instructions", "Be brief.")).asked).toContain("Be brief.");
    expect((await asked("--instructions", "@task.md")).asked).toContain("Speak in rhymes.");
    const { code, stderr } = await banyan(place, [
      "-p",
      "hello",
      "--model",
      "demo/offline",
      "--instructions",
      "@no.md",
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain("no.md: there is no such file; name a file with text, or write the text itself.");
  });

  test("S10: a secret in the prompt is not sent", async () => {
    await using server = await modelServer({ text: "Hello." });
    const env = { ...server.env, MY_API_KEY: "zw8/qr+9=Lm4x" };
    const { stderr } = await banyan(place, ["-p", "use zw8/qr+9=Lm4x", ...MODEL], { env });
    expect(JSON.stringify(server.asked)).toContain("use [redacted:MY_API_KEY]");
    expect(JSON.stringify(server.asked)).not.toContain("zw8/qr");
    expect(stderr).toContain("Part of your message looked like a secret and was removed.");
  });
});
