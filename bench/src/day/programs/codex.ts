import type { DayProgram } from "../program.ts";
import { TYPED } from "../things.ts";

export const codex: DayProgram = {
  called: "codex",
  asking: ["--ask-for-approval", "on-request", "--sandbox", "read-only"],
  free: ["--dangerously-bypass-approvals-and-sandbox"],
  back: ["resume", "--last"],
  ready: /›/,
  leave: "<C-c><C-c>",
  tools: (how) => ({
    edit: {
      name: "exec_command",
      input: {
        cmd: "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: greeting.txt\n@@\n-Good morning\n+Good evening\n*** End Patch\nEOF\n",
      },
    },
    run: (command) => ({
      name: "exec_command",
      input: {
        cmd: command,
        ...(how === "asking" && { sandbox_permissions: "require_escalated", justification: "It makes the mark." }),
      },
    }),
  }),
  setup: (url, { cwd }) => ({
    files: {
      ".codex/config.toml": `model = "gpt-5.4"
model_provider = "mock"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
[projects."${cwd}"]
trust_level = "trusted"
`,
    },
    env: { OPENAI_API_KEY: "sk-none" },
  }),
  asks: { edit: /Would you like to/, command: /Would you like to/ },
  other: /astra/,
  stopped: /interrupted/,
  spent: /tokens? used|Token usage/i,
  changed: /diff --git/,
  ways: {
    ask: [TYPED.ask],
    "approve an edit": ["y"],
    "deny an edit": [`<Esc>${TYPED.reason}<Enter>`],
    "approve a command": ["y"],
    "approve for good": ["p"],
    "read a failure": ["<C-t>", { after: /case 300/, press: "<PageUp><PageUp><PageUp><PageUp><PageUp>" }],
    steer: [`${TYPED.steer}<Enter>`],
    stop: ["<Esc>"],
    queue: [`${TYPED.next}<Tab>`],
    "come back": [],
    "find a conversation": ["/resume<Enter>", { after: /heron/, press: "heron<Enter>" }],
    undo: { none: "It puts no files back." },
    branch: [
      "<Esc><Esc>",
      { after: /rewind/, press: "<Enter>" },
      { after: /reverted/, press: `<C-u>${TYPED.kite}<Enter>` },
    ],
    "the other branch": { none: "A conversation is one line; what was gone back from is another session." },
    picture: ["<paste:{cwd}/dot.png> what is it?<Enter>"],
    "name a file": ["Read @notes", { after: /notes-of-the-day/, press: "<Enter><Enter>" }],
    model: [
      "/model<Enter>",
      { after: /Select Model/, press: "2" },
      { after: /Reasoning Level/, press: "<Enter>" },
      { after: /Model changed/i, press: TYPED.ask },
    ],
    spent: ["/status<Enter>"],
    "own command": ["!echo own-$((40+2))<Enter>"],
    changes: ["/diff<Enter>"],
  },
};
