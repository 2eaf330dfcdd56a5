import type { DayProgram } from "../program.ts";
import { TYPED } from "../things.ts";

const MODEL = "openai-compatible/first";

export const banyan: DayProgram = {
  called: "banyan",
  asking: ["--model", MODEL],
  free: ["--model", MODEL, "--approval", "all"],
  back: ["--continue"],
  ready: /Reply to banyan:/,
  leave: "<C-d>",
  tools: () => ({
    edit: { name: "edit", input: { path: "greeting.txt", old_text: "Good morning", new_text: "Good evening" } },
    run: (command) => ({ name: "shell", input: { command } }),
  }),
  setup: (url, { home }) => ({
    files: {},
    env: { BANYAN_HOME: `${home}/banyan`, BANYAN_NO_DISCOVERY: "1", OPENAI_COMPATIBLE_BASE_URL: `${url}/v1` },
  }),
  asks: { edit: /Allow this\?/, command: /Allow this\?/ },
  other: /second/,
  stopped: /Stopped\. Your turn/,
  spent: /whole tree/,
  changed: /\/diff\b.*\+ +Good evening/s,
  ways: {
    ask: [TYPED.ask],
    "approve an edit": ["y"],
    "deny an edit": [`n${TYPED.reason}<Enter>`],
    "approve a command": ["y"],
    "approve for good": ["a"],
    "read a failure": ["<C-o>", { after: /Esc goes back/, press: "<PageDown><PageDown><PageDown><PageDown>" }],
    steer: [`${TYPED.steer}<Enter>`],
    stop: ["<Esc>"],
    queue: [`${TYPED.next}<A-Enter>`],
    "come back": [],
    "find a conversation": ["/resume heron<Enter>"],
    undo: ["/undo<Enter>"],
    branch: [
      "<Esc><Esc>",
      { after: /Enter goes there/, press: "<Enter>" },
      { after: /Edit and resend/, press: `<C-u>${TYPED.kite}<Enter>` },
    ],
    "the other branch": ["/tree<Enter>", { after: /Enter goes there/, press: "<Up><Up><Enter>" }],
    picture: ["<paste:{cwd}/dot.png>", { after: /\[image/i, press: " what is it?<Enter>" }],
    "name a file": ["Read @notes", { after: /notes-of-the-day/, press: "<Tab><Enter>" }],
    model: [
      "/model<Enter>",
      { after: /Models:/, press: "<Down><Enter>" },
      { after: /Using openai-compatible.second/, press: TYPED.ask },
    ],
    spent: ["/usage<Enter>"],
    "own command": ["!echo own-$((40+2))<Enter>"],
    changes: ["/diff<Enter>"],
  },
};
