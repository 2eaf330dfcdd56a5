import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Places } from "./measure.ts";
import { COMMANDS } from "./peers.ts";
import type { Place } from "./pseudo-terminal.ts";
import { temporaryDirectory } from "./stores/temporary.ts";

/** A terminal program, with its command lines. */
export interface Program {
  readonly version: readonly string[];
  readonly help: readonly string[];
  /** Absent if the prompt appears only after a sign-in. */
  readonly chat?: readonly string[];
  /** The text that appears when the agent accepts input. */
  readonly ready?: string;
}

const START = fileURLToPath(new URL("../../scripts/start.ts", import.meta.url));
const ECHO = "process.stdin.setRawMode(true).on('data', (key) => process.stdout.write(key))";

const NODE = process.execPath;

/** The names of the programs: the lower limit, ours as published and from a checkout, and the peers. */
export const PROGRAMS = ["bare node", "banyan", "banyan from its checkout", ...COMMANDS];

export function programNamed(name: string, places: Places): Program {
  if (name === "bare node") return { version: [NODE, "-e", "0"], help: [NODE, "-e", "0"], chat: [NODE, "-e", ECHO] };
  if (name === "banyan from its checkout") return banyan(START);
  const place = places[name];
  if (place === undefined) throw new Error(`${name} is not there.`);
  if (name === "banyan") return banyan(place);
  const program = { version: [place, "--version"], help: [place, "--help"] };
  return name === "cline" ? program : { ...program, chat: [place] };
}

function banyan(main: string): Program {
  const chat = [NODE, main];
  return { version: [NODE, main, "--version"], help: [NODE, main, "--help"], chat, ready: "Reply to banyan:" };
}

/** Creates a user's home and working folder, with the settings that the programs need to show their prompt. All keys are fake. */
export function homeOfPrograms(): Place {
  const home = temporaryDirectory();
  const cwd = join(home, "work");
  mkdirSync(cwd);
  const key = "sk-none-0000000000000000000000000000000000000000";
  const files = {
    ".claude.json": JSON.stringify({
      hasCompletedOnboarding: true,
      theme: "light",
      projects: { [cwd]: { hasTrustDialogAccepted: true } },
      customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
    }),
    ".codex/config.toml": `model = "mock"
model_provider = "mock"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:9/v1"
[projects."${cwd}"]
trust_level = "trusted"`,
    ".gemini/settings.json": JSON.stringify({
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
    }),
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), text);
  }
  const env = {
    // Node first: some programs are scripts for the first node on the path.
    PATH: `${dirname(NODE)}:${process.env.PATH}`,
    HOME: home,
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    COLORFGBG: "15;0",
    BANYAN_HOME: join(home, "banyan"),
    BANYAN_NO_DISCOVERY: "1",
    BANYAN_MODEL: "demo/offline",
    // An unreachable address, so that no program waits for a network.
    ANTHROPIC_BASE_URL: "http://127.0.0.1:9",
    ANTHROPIC_API_KEY: key,
    GEMINI_API_KEY: key,
    OPENAI_API_KEY: key,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    PI_OFFLINE: "1",
  };
  return { env, cwd };
}
