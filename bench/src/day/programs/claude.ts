import type { DayProgram } from "../program.ts";
import { TYPED } from "../things.ts";

const KEY = "sk-ant-none-0000000000000000000000000000000000000000";

export const claude: DayProgram = {
  called: "claude",
  asking: [],
  free: ["--dangerously-skip-permissions"],
  back: ["--continue"],
  ready: /❯/,
  leave: "<C-d><C-d>",
  tools: () => ({
    edit: {
      name: "Write",
      input: { file_path: "greeting.txt", content: "Good evening\n" },
    },
    run: (command) => ({ name: "Bash", input: { command, description: "Does it" } }),
  }),
  setup: (url, { cwd }) => ({
    files: {
      ".claude.json": {
        hasCompletedOnboarding: true,
        theme: "light",
        bypassPermissionsModeAccepted: true,
        autoModeOptInDismissed: true,
        hasResetAutoModeOptInForDefaultOffer: true,
        projects: { [cwd]: { hasTrustDialogAccepted: true } },
        customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
      },
      ".claude/settings.json": { permissions: { defaultMode: "default" }, skipDangerousModePermissionPrompt: true },
    },
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      // The user may be root here.
      IS_SANDBOX: "1",
    },
  }),
  asks: { edit: /Do you want to/, command: /Do you want to/ },
  other: /sonnet/,
  stopped: /Interrupted/,
  spent: /Estimated cost/,
  changed: /1 file changed/,
  ways: {
    ask: [TYPED.ask],
    "approve an edit": ["<Enter>"],
    "deny an edit": [`<Esc>${TYPED.reason}<Enter>`],
    "approve a command": ["<Enter>"],
    "approve for good": ["2"],
    "read a failure": [
      "<C-o>",
      {
        after: /detailed transcript/,
        press: "<PageUp><PageUp><PageUp><PageUp><PageUp><PageUp><PageUp><PageUp><PageUp>",
      },
    ],
    steer: [`${TYPED.steer}<Enter>`],
    stop: ["<Esc>"],
    queue: { none: "What is entered is heard in the middle of the turn." },
    "come back": [],
    "find a conversation": [
      "/resume<Enter>",
      { after: /heron/, press: "heron" },
      { after: /❯ What is a heron/, press: "<Enter><Enter>" },
    ],
    undo: [
      "/rewind<Enter>",
      { after: /Restore the code/, press: "<Up><Enter>" },
      { after: /1\. Restore code and/, press: "1" },
    ],
    branch: [
      "<Esc><Esc>",
      { after: /Restore the code/, press: "<Up><Enter>" },
      { after: /Restore conversation/, press: "<Enter>" },
      { after: /─\n❯.What is a heron/, press: `<C-u>${TYPED.kite}<Enter>` },
    ],
    "the other branch": { none: "A conversation is one line; what was rewound is another session." },
    picture: ["<paste:{cwd}/dot.png>", { after: /\[image/i, press: " what is it?<Enter>" }],
    "name a file": ["Read @notes", { after: /notes-of-the-day/, press: "<Tab><Enter>" }],
    model: ["/model<Enter>", { after: /Select model/, press: "4" }, { after: /Sonnet 5\.5.*❯/s, press: TYPED.ask }],
    spent: ["/cost<Enter>"],
    "own command": ["!echo own-$((40+2))<Enter>"],
    changes: ["/diff<Enter>"],
  },
};
