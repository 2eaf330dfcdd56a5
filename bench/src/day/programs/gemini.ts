import type { DayProgram } from "../program.ts";
import { TYPED } from "../things.ts";

export const gemini: DayProgram = {
  called: "gemini",
  asking: ["--model", "gemini-2.5-flash"],
  free: ["--model", "gemini-2.5-flash", "--yolo"],
  back: ["--resume"],
  ready: /Type your message/,
  leave: "<C-c><C-c>",
  tools: () => ({
    edit: {
      name: "replace",
      input: {
        file_path: "greeting.txt",
        old_string: "Good morning",
        new_string: "Good evening",
        instruction: "It is evening.",
      },
    },
    run: (command) => ({ name: "run_shell_command", input: { command, description: "Does it" } }),
  }),
  setup: (url) => ({
    files: {
      ".gemini/settings.json": {
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
      },
    },
    env: { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: url },
  }),
  asks: { edit: /Apply this change\?/, command: /Allow execution/ },
  other: /gemini-3/,
  stopped: /cancelled/i,
  spent: /tokens/i,
  changed: /\+ ?Good evening/,
  ways: {
    ask: [TYPED.ask],
    "approve an edit": ["<Enter>"],
    "deny an edit": ["<Esc>", { after: /cancelled/, press: `${TYPED.reason}<Enter>` }],
    "approve a command": ["<Enter>"],
    "approve for good": ["2"],
    "read a failure": ["<C-o>"],
    steer: { none: "What is entered waits for the end of the turn." },
    stop: ["<Esc>"],
    queue: [`${TYPED.next}<Enter>`],
    "come back": [],
    "find a conversation": ["/resume<Enter>", { after: /heron/, press: "/heron<Enter><Enter>" }],
    undo: { none: "It did not put the file back: to it, nothing had changed." },
    branch: [
      "<Esc><Esc>",
      { after: /Stay at current/, press: "<Up><Enter>" },
      { after: /Rewind conversation/, press: "<Enter>" },
      { after: /to accept edits.*> +What is a heron/s, press: `<C-u>${TYPED.kite}<Enter>` },
    ],
    "the other branch": { none: "A conversation is one line." },
    picture: ["<paste:{cwd}/dot.png>", { after: /\[image/i, press: " what is it?<Enter>" }],
    "name a file": ["Read @notes", { after: /notes-of-the-day/, press: "<Tab><Enter>" }],
    model: [
      "/model<Enter>",
      { after: /Select Model/, press: "2" },
      { after: /gemini-2\.5-pro/, press: "<Enter>" },
      { after: /Type your message.*gemini-3/s, press: TYPED.ask },
    ],
    spent: ["/stats<Enter>"],
    "own command": ["!echo own-$((40+2))<Enter>"],
    changes: { none: "It has no list of what was changed." },
  },
};
