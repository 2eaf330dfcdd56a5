import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Item } from "../items.ts";
import type { Hands } from "../long-model.ts";
import type { CompactingProgram, Place } from "./program.ts";

/** A peer as a command: each message is a separate run that continues the last conversation. */
interface Peer {
  readonly hands: Hands;
  readonly asksForSummary: RegExp;
  readonly lacks: readonly Item["kind"][];
  /** Files of the home folder by path. */
  files(place: Place): Readonly<Record<string, string | object>>;
  readonly env: Readonly<Record<string, string>>;
  words(text: string, isFirst: boolean): readonly string[];
}

/** Milliseconds for one turn. */
const PATIENCE = 15 * 60_000;

const underscored = (state: string) => state.replace(" ", "_");

const codex: Peer = {
  hands(act) {
    const run = (cmd: string) => ({ name: "exec_command", input: { cmd } });
    const patch = (text: string) => run(`apply_patch <<'EOF'\n*** Begin Patch\n${text}\n*** End Patch\nEOF\n`);
    switch (act.do) {
      case "write":
        return patch(`*** Add File: ${act.path}\n+${act.text.trimEnd()}`);
      case "edit":
        return patch(`*** Update File: ${act.path}\n@@\n-${act.old}\n+${act.text}`);
      case "read":
        return run(`cat ${act.path}`);
      case "plan": {
        const plan = act.steps.map(({ title, state }) => ({ step: title, status: underscored(state) }));
        return { name: "update_plan", input: { plan } };
      }
      case "run":
        return run(act.command);
      default:
        return undefined;
    }
  },
  asksForSummary: /CONTEXT CHECKPOINT COMPACTION/,
  lacks: ["process"],
  files: ({ url, window, cwd }) => ({
    ".codex/config.toml": `model = "gpt-5.4"
model_provider = "mock"
model_context_window = ${window}
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
[projects."${cwd}"]
trust_level = "trusted"
`,
  }),
  env: { OPENAI_API_KEY: "sk-none" },
  words: (text, isFirst) => [
    "exec",
    ...(isFirst ? [] : ["resume", "--last"]),
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    text,
  ],
};

const pi: Peer = {
  hands(act) {
    switch (act.do) {
      case "write":
        return { name: "write", input: { path: act.path, content: act.text } };
      case "edit":
        return { name: "edit", input: { path: act.path, edits: [{ oldText: act.old, newText: act.text }] } };
      case "read":
        return { name: "read", input: { path: act.path } };
      case "run":
        return { name: "bash", input: { command: act.command } };
      default:
        return undefined;
    }
  },
  asksForSummary: /structured context checkpoint summary|existing structured summary|PREFIX of a/,
  lacks: ["plan", "process"],
  files: ({ url, window }) => ({
    ".pi/agent/models.json": {
      providers: {
        mock: {
          baseUrl: `${url}/v1`,
          api: "openai-completions",
          apiKey: "none",
          models: [{ id: "first", contextWindow: window, maxTokens: 4_096 }],
        },
      },
    },
  }),
  env: { PI_OFFLINE: "1" },
  words: (text, isFirst) => ["-p", "--provider", "mock", "--model", "first", ...(isFirst ? [] : ["--continue"]), text],
};

const opencode: Peer = {
  hands(act) {
    switch (act.do) {
      case "write":
        return { name: "write", input: { filePath: act.path, content: act.text } };
      case "edit":
        return { name: "edit", input: { filePath: act.path, oldString: act.old, newString: act.text } };
      case "read":
        return { name: "read", input: { filePath: act.path } };
      case "plan": {
        const todos = act.steps.map(({ title, state }, at) => ({
          content: title,
          status: underscored(state),
          priority: "medium",
          id: String(at + 1),
        }));
        return { name: "todowrite", input: { todos } };
      }
      case "run":
        return { name: "bash", input: { command: act.command, description: "Does it" } };
      default:
        return undefined;
    }
  },
  asksForSummary: /^Here is the conversation so far/,
  lacks: ["process"],
  files: ({ url, window }) => ({
    ".config/opencode/opencode.json": {
      model: "mock/first",
      small_model: "mock/first",
      autoupdate: false,
      share: "disabled",
      provider: {
        mock: {
          npm: "@ai-sdk/openai-compatible",
          name: "mock",
          options: { baseURL: `${url}/v1`, apiKey: "none" },
          models: { first: { name: "first", limit: { context: window, output: 4_096 } } },
        },
      },
    },
  }),
  env: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
  words: (text, isFirst) => ["run", "--model", "mock/first", ...(isFirst ? [] : ["--continue"]), text],
};

/** Peers from npm whose conversations can grow, by their names there. */
export const PEERS_THAT_COMPACT = { codex, pi, opencode };

/** Returns the peer at a path. */
export function peerAt(peer: Peer, path: string): CompactingProgram {
  return {
    hands: peer.hands,
    asksForSummary: (text) => peer.asksForSummary.test(text),
    has: ({ kind }) => !peer.lacks.includes(kind),
    async begin(place) {
      for (const [file, content] of Object.entries(peer.files(place))) {
        mkdirSync(dirname(join(place.home, file)), { recursive: true });
        writeFileSync(join(place.home, file), typeof content === "string" ? content : JSON.stringify(content));
      }
      // Node first: some peers are scripts for the first node on the path.
      const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
      const env = { PATH, HOME: place.home, LANG: "C.UTF-8", ...peer.env };
      let isFirst = true;
      return {
        say(text) {
          const words = peer.words(text, isFirst);
          isFirst = false;
          return ended(path, words, { cwd: place.cwd, env });
        },
        async [Symbol.asyncDispose]() {},
      };
    },
  };
}

/** Runs a command to its end. Returns its last output if it failed. */
function ended(path: string, words: readonly string[], place: { readonly cwd: string; readonly env: object }) {
  return new Promise<string | undefined>((resolve, reject) => {
    const child = spawn(path, words, {
      cwd: place.cwd,
      env: place.env as NodeJS.ProcessEnv,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: PATIENCE,
    });
    let output = "";
    const take = (text: string) => {
      output = (output + text).slice(-2_000);
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    child.once("error", reject);
    child.once("close", (code) => resolve(code === 0 ? undefined : `exit code ${code}: ${output}`));
  });
}
