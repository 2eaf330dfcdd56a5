import { describe, expect, test } from "vitest";
import { open } from "./testing/opened.ts";

const ENTER = "\r";
const ALT_ENTER = "\x1b\r";
const CTRL_C = "\x03";
const CTRL_D = "\x04";
const UP = "\x1b[A";
const PROMPT = "Reply to banyan:";

describe("the prompt", () => {
  test("T40: takes keys before anybody asks for a message", async () => {
    const here = open();
    here.takes = false;
    await here.screen.until("Starting …");
    here.keys("hello");
    await here.screen.until("hello");
    const message = here.reads();
    await here.screen.until(PROMPT);
    here.keys(" you", ENTER);
    expect(await message).toBe("hello you");
  });

  test("T12: says whom it is for, and is empty after a message was sent", async () => {
    const here = open();
    const message = here.reads();
    here.keys("hello", ENTER);
    expect(await message).toBe("hello");
    expect(await here.screen.until(PROMPT)).not.toContain("hello");
  });

  test("T16: a command appears above its output; a command without output leaves no line", async () => {
    const here = open();
    for (const line of ["/tree", "/usage"]) {
      const command = here.reads();
      here.keys(line, ENTER);
      expect(await command).toBe(line);
    }
    here.terminal.write("12 tokens\n");
    void here.reads();
    here.terminal.write("the end\n");
    await here.screen.until("the end");
    const shown = here.screen.lines.join("\n");
    expect(shown).toMatch(/❯ \/usage *\n *12 tokens/);
    expect(shown).not.toContain("/tree");
  });

  test("holds what is to be changed, before what was typed meanwhile", async () => {
    const here = open();
    here.keys("typed");
    await here.screen.until("typed");
    const message = here.reads("given");
    here.keys(ENTER);
    expect(await message).toBe("given\ntyped");
  });

  test("T4, T10: Ctrl-C clears it into the history; Up brings it back", async () => {
    const here = open();
    const message = here.reads();
    here.keys("half a thought", CTRL_C, "x", "\x7f", UP);
    await here.screen.until("half a thought");
    here.keys(ENTER);
    expect(await message).toBe("half a thought");
    expect(here.interrupts).toBe(0);
  });

  test("T5: Ctrl-C twice leaves when it is empty; another key between disarms it", async () => {
    const here = open();
    const message = here.reads();
    here.keys(CTRL_C);
    await here.screen.until("Press Ctrl-C again to exit");
    here.keys("x", "\x7f", CTRL_C);
    await here.screen.until("Press Ctrl-C again to exit");
    here.keys(CTRL_C);
    expect(await message).toBeUndefined();
  });

  test("T6: Ctrl-D leaves when it is empty, and deletes forward else", async () => {
    const here = open();
    const message = here.reads();
    here.keys("ab\x01", CTRL_D, ENTER);
    expect(await message).toBe("b");
    const next = here.reads();
    here.keys(CTRL_D);
    expect(await next).toBeUndefined();
  });

  test("T7: Esc twice on an empty one asks for the tree; on one with text it does nothing", async () => {
    const here = open();
    const message = here.reads();
    here.keys("kept", "\x1b[27u", "\x1b[27u", "\x15", "\x1b[27u", "\x1b[27u", "go", ENTER);
    expect(await message).toBe("go");
    expect(here.actions).toEqual(["rewind"]);
  });

  test("T12, T18: keys about the conversation are handed on", async () => {
    const here = open();
    const message = here.reads();
    here.keys("\x1b[Z", "\x1b[1;3A", "\x1ba", ENTER, "x", ENTER);
    await message;
    expect(here.actions).toEqual(["approval-mode", "take-back", "agents"]);
  });

  test("T54: ? on an empty one shows the keys, and is a character else; a text is put into the clipboard by the terminal", async () => {
    const here = open();
    const message = here.reads();
    here.keys("?");
    const keys = await here.screen.until(/^─ Keys ─/);
    expect(keys).toMatch(
      /In the prompt:\n {2}send +Enter +sends; while the agent works, before its\n +next step\n {2}send-later/,
    );
    here.keys("q", "why?", ENTER);
    expect(await message).toBe("why?");
    expect(await here.terminal.copy("Yes.")).toBe("handed");
    await expect.poll(() => here.screen.raw).toContain("\x1b]52;c;WWVzLg==\x07");
  });

  test("T13: the terminal uses the keys of the settings, and reports their faults", async () => {
    const here = open();
    expect(here.terminal.configure({ keys: { send: "ctrl+s", redraw: "ctrl+k" } })).toEqual([
      "keys: Ctrl-K cannot be both 'redraw' and 'delete-to-end'; it is 'redraw' now.",
    ]);
    const message = here.reads();
    here.keys("a", ENTER, "b", "\x13");
    expect(await message).toBe("ab");
  });

  test("T56: with the keys of vi Esc ends inserting before it stops the agent, and the mode is shown", async () => {
    const here = open();
    here.terminal.configure({ vim: true });
    here.begins();
    await here.screen.until(/^─ .* INSERT ─/);
    here.keys("two", "\x1b[27u", "I", "one ", "\x1b[27u");
    await here.screen.until(/^─ .* NORMAL ─/);
    expect(here.interrupts).toBe(0);
    here.keys("\x1b[27u");
    await here.screen.until("Stopping");
    expect(here.interrupts).toBe(1);
    here.keys("d", "w", ENTER);
    await here.screen.until(/^─ .* INSERT ─/);
    expect(here.typed).toEqual([["onetwo", false]]);
  });

  test("T15: an address is offered as attachment while it is written, and is one with Tab only", async () => {
    const here = open();
    here.terminal.configure({ workspace: "/" });
    const message = here.reads();
    here.keys("see https://a.example/b");
    await here.screen.until("Tab attaches it");
    here.keys("\t");
    expect(await here.screen.until("see @https://a.example/b")).not.toContain("Tab attaches it");
    here.keys("and https://b.example", ENTER);
    expect(await message).toBe("see @https://a.example/b and https://b.example");
  });

  test("T9: Alt+Enter begins a new line while nothing runs", async () => {
    const here = open();
    const message = here.reads();
    here.keys("one", ALT_ENTER, "two", ENTER);
    expect(await message).toBe("one\ntwo");
  });

  test("T10: Ctrl-R searches what was written before", async () => {
    const here = open();
    here.terminal.configure({ history: ["newest", "run the tests", "first"] });
    const message = here.reads();
    here.keys("\x12");
    await here.screen.until("Your earlier messages");
    here.keys("tests");
    await here.screen.until("1 of 3");
    here.keys(ENTER);
    await here.screen.until(PROMPT);
    here.keys(ENTER);
    expect(await message).toBe("run the tests");
  });

  test("T19: each change of the unsent text is reported", async () => {
    const here = open();
    here.keys("half a thou");
    await here.screen.until("half a thou");
    expect(here.draft).toBe("half a thou");
  });
});

test("T38: with colours off, no view sends a colour", async () => {
  const here = open(60, 24);
  const help = "a help that is much longer than there is room for on one line";
  here.terminal.configure({ commands: [{ name: "model", help }] });
  here.begins("**go**");
  here.happens({ type: "text.delta", message: "a", part: 0, text: "# A **b** `c`\n\n```ts\nconst a = 1;\n```\n\n" });
  here.calls("c", "shell", { command: "x".repeat(100) });
  here.keys("/");
  await here.screen.until(/^❯ \/model +a help that .*…$/);
  void here.terminal.decide({ title: "a", body: ["b"], question: "c?", choices: [{ key: "y", text: "z".repeat(99) }] });
  await here.screen.until(/^c\?/);
  const sequences = here.screen.raw.split("\x1b[").slice(1);
  expect(sequences.filter((sequence) => /^[\d;]*m/.test(sequence))).toEqual([]);
});

test("T26: is usable in 40 columns and 10 rows", async () => {
  const here = open(40, 10);
  const message = here.reads();
  here.terminal.status({
    mode: "chat",
    model: "anthropic/claude-sonnet-5",
    approval: "asks first",
    branch: { number: 2, count: 3 },
    context: 0.31,
    tokens: 12_345,
    cost: 0.12,
  });
  here.begins("tell me a long story about a tree");
  here.happens({ type: "text.delta", message: "a", part: 0, text: "word ".repeat(200) });
  const shown = await here.screen.until("claude-sonnet-5");
  const rows = shown.split("\n");
  expect(rows).toHaveLength(10);
  expect(rows.filter((row) => row.startsWith("word")).length).toBeGreaterThanOrEqual(4);
  expect(shown).toContain("Reply to banyan:");
  expect(shown).toMatch(/Writing(, \d+ s)? \(Esc to stop\)/);
  here.keys("hello", ENTER);
  expect(await message).toBe("hello");
});

test("T57: a plan stays above the prompt until all steps are done, in a small window as one line", async () => {
  const here = open(80, 24);
  void here.reads();
  const status = { mode: "chat", model: "demo/offline", tokens: 0, cost: 0 } as const;
  const plan = (last: "in_progress" | "completed") => [
    { title: "look around", status: "completed" } as const,
    { title: "mend it", status: last },
  ];
  here.terminal.status({ ...status, plan: plan("in_progress") });
  await here.screen.until(/^Plan: 1 of 2 done\n {4}\[x\] look around\n {4}\[~\] mend it\n─ Reply to banyan:/);
  // A question takes the room of the plan's steps.
  const over = new AbortController();
  void here.terminal.ask({ prompt: "Which one?", signal: over.signal });
  await here.screen.until(/^Plan: 1 of 2 done: mend it\n[^\n]*Which one\?/);
  over.abort();
  await here.screen.until(/^Plan: 1 of 2 done\n {4}\[x\] look around\n {4}\[~\] mend it\n─ Reply to banyan:/);
  here.terminal.status({ ...status, plan: plan("completed") });
  await here.screen.until(/^(?!Plan)[^\n]*\n─ Reply to banyan:/);
  const low = open(40, 10);
  void low.reads();
  low.terminal.status({ ...status, plan: plan("in_progress") });
  await low.screen.until(/^Plan: 1 of 2 done: mend it\n─ Reply to banyan:/);
});

test("T31: the terminal's modes are reset, and finished output stays on the screen", async () => {
  const here = open();
  await here.screen.until("Starting");
  here.terminal.write("the last line\n");
  here.terminal.close();
  expect(await here.terminal.read({ prompt: "> " })).toBeUndefined();
  expect(await here.terminal.ask({ prompt: "? " })).toBeUndefined();
  expect(await here.screen.until("the last line")).not.toContain("Starting");
  expect(here.raw).toEqual([true, false]);
  // Leaves Kitty's keys, focus reports and marked pastes, and shows the cursor.
  await expect.poll(() => here.screen.raw.endsWith("\x1b[<u\x1b[?1004l\x1b[?2004l\x1b[?25h")).toBe(true);
  expect(here.screen.raw.split("\x1b[>1u")).toHaveLength(2);
});

test("T31: a closing terminal may first send its pending responses", async () => {
  const here = open();
  await here.screen.until("Starting");
  const settled = here.terminal.settled();
  here.keys("\x1b[?62;4c");
  await settled;
  here.terminal.close();
  await here.terminal.settled();
});

test("T31: a terminal that does not answer is not waited for once it is closed", async () => {
  const here = open();
  const settled = here.terminal.settled();
  here.terminal.close();
  await settled;
});

test("T8: Ctrl-L draws on an empty screen, and nothing is deleted", async () => {
  const here = open();
  here.terminal.write("kept\n");
  await here.screen.until("kept");
  here.keys("typed", "\x0c");
  await here.screen.until(/(?<![\s\S])\s*─ Starting/);
  expect(here.screen.rows.join("\n")).not.toContain("kept");
  expect(here.screen.lines).toContain("kept");
  expect(here.screen.wasCleared).toBe(false);
});
