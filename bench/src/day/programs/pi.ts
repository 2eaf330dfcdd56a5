import type { DayProgram } from "../program.ts";
import { TYPED } from "../things.ts";

const none = "It asks before nothing that it does.";

export const pi: DayProgram = {
  called: "pi",
  asking: ["--provider", "mock", "--model", "first"],
  free: ["--provider", "mock", "--model", "first"],
  back: ["--continue"],
  ready: /first/,
  leave: "<C-d>",
  tools: () => ({
    edit: {
      name: "edit",
      input: { path: "greeting.txt", edits: [{ oldText: "Good morning", newText: "Good evening" }] },
    },
    run: (command) => ({ name: "bash", input: { command } }),
  }),
  setup: (url) => ({
    files: {
      ".pi/agent/models.json": {
        providers: {
          mock: {
            baseUrl: `${url}/v1`,
            api: "openai-completions",
            apiKey: "none",
            models: ["first", "second"].map((id) => ({ id, input: ["text", "image"] })),
          },
        },
      },
    },
    env: { PI_OFFLINE: "1" },
  }),
  other: /second/,
  stopped: /aborted/i,
  spent: /tokens/i,
  changed: /\+ ?Good evening/,
  ways: {
    ask: [TYPED.ask],
    "approve an edit": { none },
    "deny an edit": { none },
    "approve a command": { none },
    "approve for good": { none },
    "read a failure": ["<C-o>"],
    steer: [`${TYPED.steer}<Enter>`],
    stop: ["<Esc>"],
    queue: [`${TYPED.next}<A-Enter>`],
    "come back": [],
    "find a conversation": ["/resume<Enter>", { after: /heron/, press: "heron<Enter>" }],
    undo: { none: "It puts no files back." },
    branch: [
      "<Esc><Esc>",
      { after: /Session Tree/, press: "<Up><Enter>" },
      { after: /No summary/, press: "<Enter>" },
      { after: /Navigated/, press: `<C-u>${TYPED.kite}<Enter>` },
    ],
    "the other branch": [
      "/tree<Enter>",
      { after: /Session Tree/, press: "<Down><Down><Enter>" },
      { after: /No summary/, press: "<Enter>" },
    ],
    picture: { none: "A pasted path stays a path." },
    "name a file": { none: "Without the program fd, it completes no names." },
    model: ["/model second<Enter><Enter>", { after: /Model: second/, press: TYPED.ask }],
    spent: ["/session<Enter>"],
    "own command": ["!echo own-$((40+2))<Enter>"],
    changes: { none: "It has no list of what was changed." },
  },
};
