import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { open } from "./testing/opened.ts";

const ENTER = "\r";
const CTRL_R = "\x12";
const ESC = "\x1b";

// Questions accept keys after a pause.
beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

/** Environment variables of these terminals. */
const TERMINALS = {
  tmux: { TERM: "tmux-256color", TMUX: "/tmp/tmux-1/default,1,0" },
  screen: { TERM: "screen", STY: "1.pts-0" },
  ssh: { TERM: "xterm-256color", SSH_TTY: "/dev/pts/0", SSH_CONNECTION: "a 1 b 2" },
  "Windows Terminal": { TERM: "xterm-256color", WT_SESSION: "1" },
  "VS Code": { TERM: "xterm-256color", TERM_PROGRAM: "vscode" },
};

test.each([
  ["tmux", 40, 10],
  ["screen", 40, 10],
  ["ssh", 40, 10],
  ["Windows Terminal", 40, 10],
  ["VS Code", 40, 10],
  ["tmux", 200, 60],
] as const)("T58: editor, transcript, question and list do the same in %s, %d by %d", async (name, columns, rows) => {
  const here = open(columns, rows, TERMINALS[name]);
  const message = here.reads();
  for (const key of ["one", "\n", "two", ENTER]) here.keys(key);
  expect(await message).toBe("one\ntwo");

  here.begins("one\ntwo");
  const words = Array.from({ length: 100 }, (_, word) => `w${word}`);
  for (const word of words) here.happens({ type: "text.delta", message: "a", part: 0, text: `- ${word} and more\n` });
  await here.screen.until("w99 and more");

  const decided = here.terminal.decide({
    title: "banyan asks to run shell",
    body: ["rm -rf build"],
    question: "Allow this?",
    choices: [{ key: "n", text: "No, and say why", takesWords: "Reason (optional)" }],
  });
  await here.screen.until("Allow this? …");
  await here.quiet();
  await here.screen.until(/^Allow this\?$/);
  here.keys("n", ENTER);
  await here.screen.until("Reason (optional)");
  here.keys("later");
  await here.screen.until("later");
  here.keys(ENTER);
  expect(await decided).toEqual({ key: "n", words: "later" });

  here.happens({ type: "run.ended", run: "r", reason: "answered", leaf: "a" });
  const next = here.reads();
  here.keys(CTRL_R);
  await here.screen.until("Your earlier messages");
  here.keys(ENTER);
  await here.screen.until(/^two$/);
  here.keys(ENTER);
  expect(await next).toBe("one\ntwo");

  here.terminal.close();
  await here.screen.write("");
  expect(here.screen.lines.join("\n").match(/\bw\d+/g)).toEqual(words);
  expect(here.screen.wasCleared).toBe(false);
});

test.each([
  ["tmux", TERMINALS.tmux, true],
  ["screen", TERMINALS.screen, false],
  ["the Linux console", { TERM: "linux" }, false],
] as const)(
  "T20, T58: a full-screen view leaves no trace, and the earlier text stays, in %s",
  async (_, env, isSecond) => {
    const here = open(40, 10, env);
    here.begins("go");
    const words = Array.from({ length: 15 }, (_, word) => `w${word}`);
    for (const word of words) here.happens({ type: "text.delta", message: "a", part: 0, text: `- ${word} and more\n` });
    await here.screen.until("w14 and more");
    here.happens({ type: "run.ended", run: "r", reason: "answered", leaf: "a" });
    const message = here.reads();
    for (const closes of [ESC, "q"]) {
      here.keys("?");
      await here.screen.until(/^─ Keys ─[\s\S]*^lines 1 to 7 of /);
      expect(here.screen.raw.includes("\x1b[?1049h")).toBe(isSecond);
      here.keys(closes);
      await here.screen.until(/^─ Reply to banyan: ─+$/);
    }
    here.keys("next", ENTER);
    expect(await message).toBe("next");
    here.terminal.close();
    await here.screen.write("");
    expect(here.screen.lines.join("\n")).not.toMatch(/Keys|lines 1 to/);
    expect(here.screen.lines.join("\n").match(/\bw\d+/g)).toEqual(words);
    expect(here.screen.wasCleared).toBe(false);
  },
);
