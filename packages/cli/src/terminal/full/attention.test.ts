import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { notification } from "./attention.ts";
import { open } from "./testing/opened.ts";

const KITTY = { TERM: "xterm-kitty" };
const told = (raw: string) =>
  raw
    .split("\x1b]99;;")
    .slice(1)
    .map((rest) => rest.split("\x1b\\")[0]);

const bells = (raw: string) => raw.split("\x07").length - 1;

describe("C2: a user who looks at another window", () => {
  test("gets no notification before the terminal has reported its focus", async () => {
    const { terminal, screen } = open(80, 24, KITTY);
    expect(screen.raw).toContain("\x1b[?1004h");
    terminal.call("The agent has finished.");
    await setImmediate();
    expect(told(screen.raw)).toEqual([]);
    expect(screen.raw).not.toContain("\x07");
  });

  test("gets one notification of each event until the next look", async () => {
    const opened = open(80, 24, KITTY);
    const { terminal, screen } = opened;
    const press = async (bytes: string) => {
      opened.keys(bytes);
      await setImmediate();
    };
    await press("\x1b[O");
    terminal.call("The agent asks to run shell.");
    terminal.call("The agent asks to run shell.");
    terminal.call("The agent has finished.");
    await expect.poll(() => told(screen.raw)).toEqual(["The agent asks to run shell.", "The agent has finished."]);
    await expect.poll(() => bells(screen.raw)).toBe(2);
    await press("\x1b[I");
    terminal.call("The agent has finished.");
    await press("\x1b[O");
    await press("x");
    terminal.call("Somebody types here.");
    await press("\x1b[O");
    terminal.call("The agent has finished.");
    await expect.poll(() => bells(screen.raw)).toBe(3);
    expect(told(screen.raw).slice(2)).toEqual(["The agent has finished."]);
  });

  test.each([
    ["bell", 0, 1],
    ["off", 0, 0],
  ] as const)("hears with notify: %s", async (notify, notifications, rings) => {
    const opened = open(80, 24, KITTY);
    opened.terminal.configure({ notify });
    opened.keys("\x1b[O");
    await setImmediate();
    opened.terminal.call("The agent has finished.");
    opened.terminal.close();
    // Earlier output has arrived once this is written.
    await expect.poll(() => opened.screen.raw).toContain("\x1b[?1004l");
    expect(told(opened.screen.raw)).toHaveLength(notifications);
    expect(bells(opened.screen.raw)).toBe(rings);
  });

  test.each([
    [{ TERM: "xterm-kitty" }, "\x1b]99;;a; b\x1b\\"],
    [{ TERM: "foot" }, "\x1b]777;notify;banyan;a, b\x1b\\"],
    [{ TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app" }, "\x1b]9;a; b\x1b\\"],
    [{ TERM: "xterm-256color", TERM_PROGRAM: "WezTerm" }, "\x1b]9;a; b\x1b\\"],
    [{ TERM: "xterm-kitty", TMUX: "/tmp/x" }, ""],
    [{ TERM: "xterm-256color", TERM_PROGRAM: "vscode" }, ""],
  ])("is told as %j can", (env, bytes) => expect(notification("a; b", env)).toBe(bytes));

  test("S12: the text of a notification is one line, and cannot end the escape sequence", () => {
    const bytes = notification(`x\x1b\\\x07\n\x9c${"y".repeat(500)}`, KITTY);
    expect(bytes.slice("\x1b]99;;".length, -2)).toMatch(/^[\x20-\x7e]{1,200}$/);
  });
});
