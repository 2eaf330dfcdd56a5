import type { DayProgram } from "../program.ts";
import { TYPED } from "../things.ts";

const settings = (url: string, permission: object) => ({
  model: "mock/first",
  small_model: "mock/first",
  autoupdate: false,
  share: "disabled",
  permission,
  provider: {
    mock: {
      npm: "@ai-sdk/openai-compatible",
      name: "mock",
      options: { baseURL: `${url}/v1`, apiKey: "none" },
      models: { first: { name: "first" }, second: { name: "second" } },
    },
  },
});

export const opencode: DayProgram = {
  called: "opencode",
  asking: [],
  free: ["--yolo"],
  back: ["--continue"],
  ready: /Ask anything/,
  leave: "<C-c>",
  tools: () => ({
    edit: {
      name: "edit",
      input: { filePath: "greeting.txt", oldString: "Good morning", newString: "Good evening" },
    },
    run: (command) => ({ name: "bash", input: { command, description: "Does it" } }),
  }),
  setup: (url) => ({
    files: { ".config/opencode/opencode.json": settings(url, { edit: "ask", bash: "ask" }) },
    env: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
  }),
  asks: { edit: /Permission required/, command: /Permission required/ },
  other: /second/,
  stopped: /interrupted/i,
  spent: /\d tokens/,
  changed: /Diff working tree/,
  ways: {
    ask: [TYPED.ask],
    "approve an edit": ["<Enter>"],
    "deny an edit": [`<Right><Right><Enter>${TYPED.reason}<Enter>`],
    "approve a command": ["<Enter>"],
    "approve for good": ["<Right><Enter>", { after: /Always allow/, press: "<Enter>" }],
    "read a failure": { none: "It takes the mouse." },
    steer: [`${TYPED.steer}<Enter>`],
    stop: ["<Esc>", { after: /again to interrupt/, press: "<Esc>" }],
    queue: { none: "What is entered is heard in the middle of the turn." },
    "come back": [],
    "find a conversation": ["/sessions<Enter>", { after: /heron/, press: "heron<Enter>" }],
    undo: ["/undo<Enter>"],
    branch: ["/undo<Enter>", { after: /reverted/, press: `<C-u>${TYPED.kite}<Enter>` }],
    "the other branch": { none: "What was undone is gone when something else is said." },
    picture: ["<paste:{cwd}/dot.png>", { after: /\[image/i, press: " what is it?<Enter>" }],
    "name a file": ["Read @notes", { after: /notes-of-the-day/, press: "<Tab><Enter>" }],
    model: [
      "/models<Enter>",
      { after: /Select model/, press: "second<Enter>" },
      { after: /Build · second/, press: TYPED.ask },
    ],
    spent: ["<C-x>b"],
    "own command": ["!echo own-$((40+2))<Enter>"],
    changes: ["/diff<Enter>"],
  },
};
