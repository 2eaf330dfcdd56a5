import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { expect, onTestFinished, test } from "vitest";
import { acpAgent } from "./acp-agent.ts";
import { play } from "./testing/sample.fixture.ts";

const PACKAGES = ["@agentclientprotocol/claude-agent-acp", "@agentclientprotocol/codex-acp"];

function installed(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "acp-agents-"));
  try {
    writeFileSync(join(folder, "package.json"), '{"private": true}');
    execFileSync("npm", ["install", "--loglevel=error", "--no-audit", "--no-fund", ...PACKAGES], {
      cwd: folder,
      stdio: "pipe",
    });
    return join(folder, "node_modules", ".bin");
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}

const bin = process.env.BANYAN_LONG === undefined ? undefined : installed();
const why =
  bin === undefined ? "left out: they are installed from npm in long mode" : "against a mock of their providers";

/** A mock provider, and a home without an account that uses it. */
async function offline() {
  const mock = new LLMock({ port: 0 });
  const url = await mock.start();
  const home = mkdtempSync(join(tmpdir(), "acp-home-"));
  const cwd = join(home, "work");
  mkdirSync(cwd);
  mkdirSync(join(home, ".codex"));
  writeFileSync(join(home, ".codex", "auth.json"), JSON.stringify({ OPENAI_API_KEY: "sk-test" }));
  writeFileSync(
    join(home, ".codex", "config.toml"),
    `model = "gpt-5.4"\nmodel_provider = "mock"\n[model_providers.mock]\nname = "mock"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n`,
  );
  onTestFinished(async () => {
    await mock.stop();
    rmSync(home, { recursive: true, force: true });
  });
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "sk-test",
    OPENAI_API_KEY: "sk-test",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
  return { mock, cwd, env };
}

test.runIf(bin !== undefined).each(["claude-agent-acp", "codex-acp"])(
  `the real %s takes two turns and a branch, each in a session that knows what was said (${why})`,
  async (program) => {
    const { mock, cwd, env } = await offline();
    mock.onMessage(/.*/, { content: "Hello from the mock." });
    const model = acpAgent({ name: "real", command: join(bin ?? "", program), cwd, env });
    const { session, text, reason } = await play("First question.", { model });
    expect([reason, text]).toEqual(["answered", expect.stringContaining("Hello from the mock.")]);
    const first = session.state.leaf ?? undefined;
    await play("Second question.", { model, session });
    await play("Another way.", { model, session, at: first });
    const bodies = mock.getRequests().map(({ body }) => JSON.stringify(body));
    const [last = ""] = bodies.filter((body) => body.includes("Another way."));
    expect(last).toContain("First question.");
    expect(last).not.toContain("Second question.");
  },
  180_000,
);
