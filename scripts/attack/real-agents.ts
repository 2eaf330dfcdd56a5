import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { oneCallProvider } from "../../packages/acp/src/testing/provider.fixture.ts";
import { type Attack, NotTried, type Place } from "./attack.ts";

const CLAUDE = ["@agentclientprotocol/claude-agent-acp", "claude-agent-acp"] as const;
const CODEX = ["@agentclientprotocol/codex-acp", "codex-acp"] as const;

interface Try {
  readonly agent: typeof CLAUDE | typeof CODEX;
  readonly claude?: object;
  readonly tool: string;
  readonly input: (folder: string) => object;
  readonly args: readonly string[];
  readonly hooks?: object;
}

const asks = { permissions: { defaultMode: "default" } };
const bypass = { permissions: { defaultMode: "acceptEdits", allow: ["Bash(touch:*)"] } };
const write = (folder: string) => ({ file_path: join(folder, "done"), content: "x" });
const touch = () => ({ command: "touch done", description: "make it" });
const blocks = (matcher: string) => ({
  PreToolUse: [{ matcher, hooks: [{ type: "command", command: "exit 2" }] }],
});

const tries: Readonly<Record<string, Try>> = {
  "Claude Code writes, and asks": {
    agent: CLAUDE,
    claude: asks,
    tool: "Write",
    input: write,
    args: ["--deny", "write", "--deny", "edit"],
  },
  "Claude Code writes in its own mode acceptEdits": {
    agent: CLAUDE,
    claude: bypass,
    tool: "Write",
    input: write,
    args: ["--deny", "write"],
  },
  "Claude Code runs a command, and asks": {
    agent: CLAUDE,
    claude: asks,
    tool: "Bash",
    input: touch,
    args: ["--deny", "shell(touch *)"],
  },
  "Claude Code runs a command that its own settings allow": {
    agent: CLAUDE,
    claude: bypass,
    tool: "Bash",
    input: touch,
    args: ["--deny", "shell"],
  },
  "Claude Code writes under a hook on Write": {
    agent: CLAUDE,
    claude: asks,
    tool: "Write",
    input: write,
    args: [],
    hooks: blocks("Write"),
  },
  "Claude Code runs a command under a hook on Bash": {
    agent: CLAUDE,
    claude: asks,
    tool: "Bash",
    input: touch,
    args: [],
    hooks: blocks("Bash"),
  },
  "codex runs a command": {
    agent: CODEX,
    tool: "exec_command",
    input: () => ({ cmd: "touch done" }),
    args: ["--deny", "shell(touch *)"],
  },
  "codex wants to leave its sandbox": {
    agent: CODEX,
    tool: "exec_command",
    input: () => ({ cmd: "touch done", sandbox_permissions: "require_escalated", justification: "must" }),
    args: ["--deny", "shell(touch *)"],
  },
};

/** Attacks by real agents. An act without approval must fail the turn, and the error must name the rule. */
export const realAgents: readonly Attack[] = Object.entries(tries).map(([name, each]) => ({
  rule: "S43",
  name: `${name}, against ${[...each.args, ...(each.hooks ? ["a hook"] : [])].join(" ")}`,
  seconds: 300,
  async attempt(place: Place) {
    const [pack, program] = each.agent;
    const bin = installed(place, pack);
    const provider = await oneCallProvider(each.tool, each.input(place.folder));
    const { url } = provider;
    place.defer(() => provider.stop());
    const env = {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "sk-test",
      OPENAI_API_KEY: "sk-test",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: place.home,
    };
    const acpAgents = { real: { command: join(bin, program), env } };
    putFile(join(place.home, ".banyan", "config", "settings.json"), JSON.stringify({ acpAgents, hooks: each.hooks }));
    putFile(join(place.home, ".claude", "settings.json"), JSON.stringify(each.claude ?? {}));
    putFile(join(place.home, ".codex", "auth.json"), JSON.stringify({ OPENAI_API_KEY: "sk-test" }));
    putFile(
      join(place.home, ".codex", "config.toml"),
      `model = "gpt-5.4"\nmodel_provider = "mock"\n[model_providers.mock]\nname = "mock"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n`,
    );
    const allow = ["--allow", "real_edit", "--allow", "real_execute", "--approval", "edits"];
    const run = await place.banyan(["-p", "Do it.", "--model", "acp/real", ...allow, ...each.args]);
    if (!provider.wasAsked()) throw new Error(`The agent asked no model: ${run.stderr}`);
    if (!existsSync(join(place.folder, "done"))) return undefined;
    const isNamed = /ran without asking: .*The rule '.*' forbids this/.test(run.stderr);
    return run.code !== 0 && isNamed ? undefined : `done, exit ${run.code}: ${run.stderr.slice(-300)}`;
  },
}));

function installed(place: Place, pack: string): string {
  const folder = join(place.home, "agents");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{"private": true}');
  let problem: unknown;
  try {
    const args = ["install", "--loglevel=error", "--no-audit", "--no-fund", "--prefer-offline", pack];
    execFileSync("npm", args, { cwd: folder, stdio: "pipe" });
    return join(folder, "node_modules", ".bin");
  } catch (error) {
    problem = error;
  }
  throw new NotTried(`${pack} cannot be installed: ${String(problem).split("\n")[0]}`);
}

function putFile(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
