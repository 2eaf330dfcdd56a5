import { afterEach, describe, expect, test, vi } from "vitest";
import { Opened } from "./testing/opened.ts";

const ENTER = "\r";
const ALT_ENTER = "\x1b\r";
const CTRL_C = "\x03";
const CTRL_D = "\x04";
const UP = "\x1b[A";
const PROMPT = "Reply to banyan:";

let opened: Opened;
afterEach(() => {
  opened?.[Symbol.dispose]();
  vi.useRealTimers();
});

function open(...size: readonly number[]): Opened {
  opened = new Opened(...size);
  return opened;
}

function reads(here: Opened, initial = ""): Promise<string | undefined> {
  return here.terminal.read({ prompt: `${PROMPT} `, initial });
}

describe("the prompt", () => {
  test("T40: takes keys before anybody asks for a message", async () => {
    const here = open();
    here.takes = false;
    await here.screen.until("Starting …");
    here.keys("hello");
    await here.screen.until("hello");
    const message = reads(here);
    await here.screen.until(PROMPT);
    here.keys(" you", ENTER);
    expect(await message).toBe("hello you");
  });

  test("T12: says whom it is for, and is empty after a message was sent", async () => {
    const here = open();
    const message = reads(here);
    here.keys("hello", ENTER);
    expect(await message).toBe("hello");
    expect(await here.screen.until(PROMPT)).not.toContain("hello");
  });

  test("T16: a command stands above what it says; one that says nothing leaves nothing behind", async () => {
    const here = open();
    for (const line of ["/tree", "/usage"]) {
      const command = reads(here);
      here.keys(line, ENTER);
      expect(await command).toBe(line);
    }
    here.terminal.write("12 tokens\n");
    void reads(here);
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
    const message = reads(here, "given");
    here.keys(ENTER);
    expect(await message).toBe("given\ntyped");
  });

  test("T4, T10: Ctrl-C clears it into the history; Up brings it back", async () => {
    const here = open();
    const message = reads(here);
    here.keys("half a thought", CTRL_C, "x", "\x7f", UP);
    await here.screen.until("half a thought");
    here.keys(ENTER);
    expect(await message).toBe("half a thought");
    expect(here.interrupts).toBe(0);
  });

  test("T5: Ctrl-C twice leaves when it is empty; another key between disarms it", async () => {
    const here = open();
    const message = reads(here);
    here.keys(CTRL_C);
    await here.screen.until("Press Ctrl-C again to exit");
    here.keys("x", "\x7f", CTRL_C);
    await here.screen.until("Press Ctrl-C again to exit");
    here.keys(CTRL_C);
    expect(await message).toBeUndefined();
  });

  test("T6: Ctrl-D leaves when it is empty, and deletes forward else", async () => {
    const here = open();
    const message = reads(here);
    here.keys("ab\x01", CTRL_D, ENTER);
    expect(await message).toBe("b");
    const next = reads(here);
    here.keys(CTRL_D);
    expect(await next).toBeUndefined();
  });

  test("T7: Esc twice on an empty one asks for the tree; on one with text it does nothing", async () => {
    const here = open();
    const message = reads(here);
    here.keys("kept", "\x1b[27u", "\x1b[27u", "\x15", "\x1b[27u", "\x1b[27u", "go", ENTER);
    expect(await message).toBe("go");
    expect(here.actions).toEqual(["rewind"]);
  });

  test("T12, T18: keys about the conversation are handed on", async () => {
    const here = open();
    const message = reads(here);
    here.keys("\x1b[Z", "\x1b[1;3A", "\x1ba", ENTER, "x", ENTER);
    await message;
    expect(here.actions).toEqual(["approval-mode", "take-back", "agents"]);
  });

  test("T13: has the keys of the settings, and says what is wrong with them", async () => {
    const here = open();
    expect(here.terminal.configure({ keys: { send: "ctrl+s", redraw: "ctrl+k" } })).toEqual([
      "keys: Ctrl-K cannot be both 'redraw' and 'delete-to-end'; it is 'redraw' now.",
    ]);
    const message = reads(here);
    here.keys("a", ENTER, "b", "\x13");
    expect(await message).toBe("ab");
  });

  test("T15: an address is offered as attachment while it is written, and is one with Tab only", async () => {
    const here = open();
    here.terminal.configure({ workspace: "/" });
    const message = reads(here);
    here.keys("see https://a.example/b");
    await here.screen.until("Tab attaches it");
    here.keys("\t");
    expect(await here.screen.until("see @https://a.example/b")).not.toContain("Tab attaches it");
    here.keys("and https://b.example", ENTER);
    expect(await message).toBe("see @https://a.example/b and https://b.example");
  });

  test("T9: Alt+Enter begins a new line while nothing runs", async () => {
    const here = open();
    const message = reads(here);
    here.keys("one", ALT_ENTER, "two", ENTER);
    expect(await message).toBe("one\ntwo");
  });

  test("T10: Ctrl-R searches what was written before", async () => {
    const here = open();
    here.terminal.configure({ history: ["newest", "run the tests", "first"] });
    const message = reads(here);
    here.keys("\x12");
    await here.screen.until("What you wrote before");
    here.keys("tests");
    await here.screen.until("1 of 3");
    here.keys(ENTER);
    await here.screen.until(PROMPT);
    here.keys(ENTER);
    expect(await message).toBe("run the tests");
  });

  test("T19: what is written and not sent is told at every change", async () => {
    const here = open();
    here.keys("half a thou");
    await here.screen.until("half a thou");
    expect(here.draft).toBe("half a thou");
  });
});

describe("while the agent works", () => {
  function busy(): Opened {
    const here = open();
    here.begins();
    return here;
  }

  test("T18: Enter steers and Alt+Enter waits; what waits is in sight until it is delivered", async () => {
    const here = busy();
    here.keys("go left", ENTER, "then rest", ALT_ENTER);
    const part = (text: string) => [{ type: "text", text }] as const;
    await here.screen.until("Enter steers");
    await vi.waitFor(() => expect(here.typed).toHaveLength(2));
    expect(here.typed).toEqual([
      ["go left", false],
      ["then rest", true],
    ]);
    here.happens(
      { type: "input.queued", input: "i1", parts: part("then rest"), delivery: "queue", run: "r" },
      { type: "input.queued", input: "i2", parts: part("go left"), delivery: "steer", run: "r" },
    );
    expect(await here.screen.until("queued: then rest")).toMatch(
      /steer: go left\nqueued: then rest {3}Alt\+Up takes them back/,
    );
    here.happens(
      { type: "message.added", message: "i2", parentId: "a", role: "user", author: "user", parts: part("go left") },
      { type: "input.delivered", input: "i2" },
    );
    expect(await here.screen.until(/^❯ go left$/)).not.toContain("steer: go left");
  });

  test("what nobody takes is the next message, and is shown as that", async () => {
    const here = busy();
    here.takes = false;
    here.keys("/retry", ENTER);
    await here.screen.until("next: /retry");
    expect(await reads(here)).toBe("/retry");
  });

  test.each([
    ["T1: Ctrl-C", CTRL_C],
    ["T2: Esc", "\x1b[27u"],
  ])("%s interrupts, and what is typed stays", async (_name, key) => {
    const here = busy();
    here.happens({ type: "text.delta", message: "a", part: 0, text: "Once upon a time" });
    here.keys("wait", key);
    await here.screen.until("stopping");
    expect(here.interrupts).toBe(1);
    here.happens({ type: "run.ended", run: "r", reason: "interrupted", leaf: "a" });
    const screen = await here.screen.until("Interrupted – you have control");
    expect(screen).toMatch(/Once upon a time\n+Interrupted – you have control\n+─ .*\nwait/);
  });

  test("B21: after a stop nothing is sent by itself; it stands in the prompt", async () => {
    const here = busy();
    here.takes = false;
    here.keys("first", ENTER, "sec");
    await here.screen.until("next: first");
    here.keys(CTRL_C);
    const held = reads(here);
    here.keys("ond", ENTER);
    expect(await held).toBe("first\nsecond");
  });

  test("T25: one line names what goes on, for how long and what stops it", async () => {
    const here = busy();
    expect(await here.screen.until("waiting for the model, Esc stops")).toContain("⠋");
    here.happens({ type: "reasoning.delta", message: "a", part: 0, text: "Hm." });
    await here.screen.until("thinking, Esc stops");
    here.calls("c", "shell", { command: "npm test" });
    here.happens({ type: "call.executing", message: "a", call: "c", attempt: 1, key: "k" });
    await here.screen.until("running npm test, Esc stops");
  });

  test("T25: nothing moves when nobody wants that", async () => {
    opened = new Opened(80, 24, { NO_MOTION: "1" });
    opened.begins();
    expect(await opened.screen.until("waiting for the model")).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
  });

  test("T24: a call is a line that changes until it ends; its output is below, cut, and can be opened", async () => {
    const here = busy();
    here.calls("c", "shell", { command: "seq 30" });
    await here.screen.until("• shell  seq 30 … waiting");
    const seq = Array.from({ length: 30 }, (_, index) => `${index + 1}\n`).join("");
    here.happens(
      { type: "call.executing", message: "a", call: "c", attempt: 1, key: "k" },
      { type: "call.output.delta", message: "a", call: "c", text: "1\n2\n3\n4\n5\n6\n7\n" },
    );
    expect(await here.screen.until("shell  seq 30 … running")).toMatch(
      /running(?:, \d\.\d s)?\n {4}3\n {4}4\n {4}5\n {4}6\n {4}7\n/,
    );
    here.happens({ type: "call.completed", message: "a", call: "c", output: seq });
    const ended = await here.screen.until("Ctrl-O expands");
    expect(ended).toMatch(
      /shell {2}seq 30 … done(?:, \d\.\d s)?\n {4}1\n(?: {4}\d+\n){9} {4}… \(20 more lines; Ctrl-O expands\)/,
    );
    here.keys("\x0f");
    expect(await here.screen.until("shell: done")).toMatch(/Arguments\n {2}seq 30\n\nWhat it answered\n {2}1\n {2}2\n/);
    here.keys("\x1b[F");
    await here.screen.until(/^ {2}30$/);
    here.keys("\x1b[27u");
    await here.screen.until("Ctrl-O expands");
  });

  test("T24: a call that fails shows its last lines", async () => {
    const here = busy();
    here.calls("c", "shell", { command: "make" });
    here.happens(
      { type: "call.executing", message: "a", call: "c", attempt: 1, key: "k" },
      { type: "call.completed", message: "a", call: "c", output: "a\nb\nc\nd\ne\nf\nno rule\nexit code 2" },
    );
    expect(await here.screen.until("exit code 2")).toMatch(
      /shell {2}make … exit code 2(?:, \d\.\d s)?\n {4}c\n {4}d\n {4}e\n {4}f\n {4}no rule\n/,
    );
  });

  test("T23: a file that a call changes is shown as a diff", async () => {
    const here = busy();
    here.calls("c", "edit", { path: "a.ts" });
    const diff = "--- a.ts\n+++ a.ts\n@@ -1 +1 @@\n-one\n+two\n";
    const change = { path: "a.ts", kind: "changed", before: "", after: "", added: 1, removed: 1, diff } as const;
    here.happens(
      { type: "call.executing", message: "a", call: "c", attempt: 1, key: "k" },
      { type: "file.changed", message: "a", call: "c", ...change },
      { type: "call.completed", message: "a", call: "c", output: "ok" },
    );
    expect(await here.screen.until("changed a.ts, 1 line added, 1 removed")).toMatch(/ {4}1 - one\n {4}1 \+ two\n/);
  });

  test("a call that was only streamed and is not part of the answer goes", async () => {
    const here = busy();
    here.happens({ type: "call.input.delta", message: "a", part: 1, call: "c", tool: "shell", text: '{"command":"rm' });
    await here.screen.until("• shell  rm … being written");
    const usage = { input: 1, output: 1, cached: 0, reasoning: 0, cacheWrite: 0 };
    here.happens({
      type: "message.completed",
      message: "a",
      parts: [{ type: "text", text: "No." }],
      finish: "stop",
      usage,
    });
    here.happens({ type: "run.ended", run: "r", reason: "answered", leaf: "a" });
    here.terminal.view.say("Done with that.");
    expect(await here.screen.until("Done with that.")).not.toContain("rm");
  });

  test("what a sub-agent says is not in the transcript", async () => {
    const here = busy();
    here.calls("c", "launch_agent", { task: "look" });
    here.happens(
      { type: "call.executing", message: "a", call: "c", attempt: 1, key: "k" },
      {
        type: "message.added",
        message: "su",
        parentId: null,
        role: "user",
        author: "tool",
        parts: [{ type: "text", text: "the task" }],
        call: "c",
      },
      { type: "message.started", message: "sa", parentId: "su", run: "sr", model: "demo/offline" },
      { type: "text.delta", message: "sa", part: 0, text: "hidden" },
    );
    here.terminal.view.say("In sight.");
    expect(await here.screen.until("running launch_agent look")).not.toMatch(/hidden|the task/);
  });
});

describe("a decision", () => {
  const question = {
    title: "banyan asks to run shell",
    body: ["rm -rf build"],
    question: "Allow this?",
    choices: [
      { key: "y", text: "yes, once" },
      { key: "n", text: "no; you may say why", takesWords: "Why not" },
    ],
  };

  test("S14, T27: is not made by keys that were typed as it appeared, nor by Enter, nor by a stray key", async () => {
    const here = open();
    const decided = here.terminal.decide(question);
    await here.screen.until("Allow this? …");
    here.keys("y", ENTER);
    await here.screen.until(/^Allow this\?$/);
    here.keys(ENTER, "q");
    await here.screen.until("Nothing is decided yet: press one of y, n.");
    here.keys("y");
    expect(await decided).toEqual({ key: "y" });
  });

  test("S14: is not made by a message that is being typed; the message stays", async () => {
    const here = open();
    const message = reads(here);
    here.keys("say yes or");
    await here.screen.until("say yes or");
    const decided = here.terminal.decide(question);
    await here.screen.until("Allow this?");
    here.keys(" n");
    await here.screen.until("say yes or n");
    await here.screen.until(/^Allow this\?$/);
    here.keys("y");
    expect(await decided).toEqual({ key: "y" });
    here.keys("o", ENTER);
    expect(await message).toBe("say yes or no");
  });

  test("T25: says by itself that it waits, and what Esc does", async () => {
    const here = open();
    here.begins();
    here.calls("c", "shell", { command: "rm -rf build" });
    here.happens({ type: "call.approval-requested", message: "a", call: "c", question: "q" });
    await here.screen.until("waiting for you, Esc stops");
    const decided = here.terminal.decide({ ...question, stops: true, again: true });
    const asked = await here.screen.until(/banyan asks to run shell ─+ Esc stops ─$/);
    expect(asked).not.toContain("waiting for you, ");
    here.keys("y");
    await decided;
    await here.screen.until("waiting for you, Esc stops");
  });

  test("T27: may come with words", async () => {
    const here = open();
    const decided = here.terminal.decide({ ...question, again: true });
    await here.screen.until("Allow this?");
    here.keys("n");
    await here.screen.until("Why not:");
    here.keys("not now", ENTER);
    expect(await decided).toEqual({ key: "n", words: "not now" });
  });

  test("S14: that stands behind another one is not made by the key for the first", async () => {
    const here = open();
    const first = here.terminal.decide({ ...question, again: true });
    const second = here.terminal.decide({ ...question, title: "and again" });
    await here.screen.until("banyan asks to run shell");
    here.keys("y", "y");
    expect(await first).toEqual({ key: "y" });
    await here.screen.until("and again");
    await here.screen.until(/^Allow this\?$/);
    here.keys("n", ENTER);
    expect(await second).toEqual({ key: "n" });
  });

  test("is none when it is taken back, or when Ctrl-C interrupts instead", async () => {
    const here = open();
    const asked = new AbortController();
    const taken = here.terminal.decide({ ...question, again: true, signal: asked.signal });
    asked.abort();
    expect(await taken).toBeUndefined();
    expect(here.interrupts).toBe(0);
    const interrupted = here.terminal.decide({ ...question, again: true });
    here.keys(CTRL_C);
    expect(await interrupted).toBeUndefined();
    expect(here.interrupts).toBe(1);
  });

  test("T27: shows all of what is judged: a long one can be moved", async () => {
    const here = open(80, 16);
    const body = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);
    const decided = here.terminal.decide({ ...question, body, again: true });
    await here.screen.until("more lines: Up and Down move");
    here.keys(...Array(40).fill("\x1b[B"));
    await here.screen.until("line 40");
    here.keys("y");
    await decided;
  });

  test("a question in words is answered with Enter; what stands there can be edited", async () => {
    const here = open();
    const answer = here.terminal.ask({ prompt: "Arguments: ", initial: '{"a":1}', again: true });
    await here.screen.until('{"a":1}');
    here.keys("\x1b[D", "0", ENTER);
    expect(await answer).toBe('{"a":10}');
  });
});

test("T38: without colours not one is sent, whatever is shown", async () => {
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
  const message = reads(here);
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
  expect(shown).toContain("writing, Esc stops");
  here.keys("hello", ENTER);
  expect(await message).toBe("hello");
});

test("T31: what was entered is left again, and what is finished is on the screen", async () => {
  const here = open();
  await here.screen.until("Starting");
  here.terminal.write("the last line\n");
  here.terminal.close();
  expect(await here.terminal.read({ prompt: "> " })).toBeUndefined();
  expect(await here.terminal.ask({ prompt: "? " })).toBeUndefined();
  expect(await here.screen.until("the last line")).not.toContain("Starting");
  expect(here.raw).toEqual([true, false]);
  // Kitty's keys, marked pastes, the cursor.
  await vi.waitFor(() => expect(here.screen.raw.endsWith("\x1b[<u\x1b[?2004l\x1b[?25h")).toBe(true));
  expect(here.screen.raw.split("\x1b[>1u")).toHaveLength(2);
});

test("T31: a terminal that is about to be closed may answer first what it was asked", async () => {
  const here = open();
  await here.screen.until("Starting");
  const settled = here.terminal.settled();
  here.keys("\x1b[?62;4c");
  await settled;
  here.terminal.close();
  await here.terminal.settled();
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
