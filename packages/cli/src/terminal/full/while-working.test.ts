import { describe, expect, test } from "vitest";
import { type Opened, open } from "./testing/opened.ts";

const ENTER = "\r";
const ALT_ENTER = "\x1b\r";
const CTRL_C = "\x03";
const ALT_UP = "\x1b[1;3A";

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
    await here.screen.until("Enter: send now");
    await expect.poll(() => here.typed).toHaveLength(2);
    expect(here.typed).toEqual([
      ["go left", false],
      ["then rest", true],
    ]);
    here.happens(
      { type: "input.queued", input: "i1", parts: part("then rest"), delivery: "queue", run: "r" },
      { type: "input.queued", input: "i2", parts: part("go left"), delivery: "steer", run: "r" },
    );
    expect(await here.screen.until("queued: then rest")).toMatch(
      /steer: go left\nqueued: then rest {3}Alt\+Up takes back the last/,
    );
    here.happens(
      { type: "message.added", message: "i2", parentId: "a", role: "user", author: "user", parts: part("go left") },
      { type: "input.delivered", input: "i2" },
    );
    expect(await here.screen.until(/^❯ go left$/)).not.toContain("steer: go left");
  });

  test("T53: after the user deletes a withdrawn message, the next text is a new message", async () => {
    const here = busy();
    here.terminal.takeBack("later", "queued");
    await here.screen.until("Editing a queued message. Enter puts it back into the queue");
    here.keys("\x15");
    expect(await here.screen.until("Enter: send now")).not.toContain("Editing a queued message");
    here.keys("now", ENTER);
    await expect.poll(() => here.typed).toEqual([["now", false]]);
  });

  test("T24: a call that asks a person waits for them, as long as it does", async () => {
    const here = busy();
    here.calls("c", "ask_client", { question: "Which one?" });
    here.happens(
      { type: "call.executing", message: "a", call: "c", attempt: 1, key: "k" },
      { type: "question.asked", message: "a", call: "c", question: "q", text: "Which one?" },
    );
    await here.screen.until("ask_client  Which one? … waiting for you");
    here.happens({ type: "question.answered", question: "q", text: "this" });
    await here.screen.until(/ask_client {2}Which one\? … running/);
  });

  test("T53: Alt+Up first takes back a message that waits for the prompt; the unsent text returns after it", async () => {
    const here = busy();
    here.takes = false;
    here.keys("/retry", ENTER, "half a thought");
    await here.screen.until("next: /retry");
    here.keys(ALT_UP);
    expect(await here.screen.until(/ Editing the next message. Enter sends it, 1 behind it ─\n\/retry$/)).not.toContain(
      "next: /retry",
    );
    expect(here.draft).toBe("/retry\nhalf a thought");
    here.takes = true;
    here.keys(CTRL_C, ALT_UP, ENTER);
    await expect.poll(() => here.actions).toEqual(["take-back"]);
    here.terminal.takeBack("later, please", "queued");
    here.keys(ENTER);
    await expect.poll(() => here.typed.at(-1)).toEqual(["later, please", true]);
    here.terminal.takeBack("not yet", "held");
    await here.screen.until(/ Editing a held message. Enter sends it, 1 behind it ─\nnot yet$/);
    here.keys(ENTER);
    await expect.poll(() => here.typed.at(-1)).toEqual(["not yet", false]);
  });

  test("a line that the agent does not take is the next message, and appears as such", async () => {
    const here = busy();
    here.takes = false;
    here.keys("/retry", ENTER);
    await here.screen.until("next: /retry");
    expect(await here.reads()).toBe("/retry");
  });

  test.each([
    ["T1: Ctrl-C", CTRL_C],
    ["T2: Esc", "\x1b[27u"],
  ])("%s interrupts, and what is typed stays", async (_name, key) => {
    const here = busy();
    here.happens({ type: "text.delta", message: "a", part: 0, text: "Once upon a time" });
    here.keys("wait", key);
    await here.screen.until("Stopping");
    expect(here.interrupts).toBe(1);
    here.happens({ type: "run.ended", run: "r", reason: "interrupted", leaf: "a" });
    const screen = await here.screen.until("Stopped. Your turn.");
    expect(screen).toMatch(/Once upon a time\n+Stopped. Your turn.\n+─ .*\nwait/);
  });

  test("B21: after a stop nothing is sent by itself; it stands in the prompt", async () => {
    const here = busy();
    here.takes = false;
    here.keys("first", ENTER, "sec");
    await here.screen.until("next: first");
    here.keys(CTRL_C);
    const held = here.reads();
    here.keys("ond", ENTER);
    expect(await held).toBe("first\nsecond");
  });

  test("T25: one line names the activity, its duration and the key that stops it", async () => {
    const here = busy();
    expect(await here.screen.until(/Waiting for the model(, \d+ s)? \(Esc to stop\)/)).toContain("⠋");
    here.happens({ type: "reasoning.delta", message: "a", part: 0, text: "Hm." });
    await here.screen.until(/Thinking(, \d+ s)? \(Esc to stop\)/);
    here.calls("c", "shell", { command: "npm test" });
    here.happens({ type: "call.executing", message: "a", call: "c", attempt: 1, key: "k" });
    await here.screen.until(/Running npm test(, \d+ s)? \(Esc to stop\)/);
  });

  test("T25: with NO_MOTION nothing moves", async () => {
    const here = open(80, 24, { NO_MOTION: "1" });
    here.begins();
    expect(await here.screen.until("Waiting for the model")).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
  });

  test("T24, T68: a call is a line that changes until it ends; the last line of its output is below, and a key opens all", async () => {
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
    const ended = await here.screen.until("Ctrl-O shows all");
    expect(ended).toMatch(/shell {2}seq 30 … done(?:, \d\.\d s)?\n {4}30 \(29 more lines; Ctrl-O shows all\)/);
    here.keys("\x0f");
    expect(await here.screen.until("shell: done")).toMatch(/Arguments\n {2}seq 30\n\nResult\n {2}1\n {2}2\n/);
    here.keys("\x1b[F");
    await here.screen.until(/^ {2}30$/);
    here.keys("\x1b[27u");
    await here.screen.until("Ctrl-O shows all");
    here.happens({ type: "reasoning.delta", message: "b", part: 0, text: "What next?" });
    here.happens({ type: "text.delta", message: "b", part: 1, text: "That was all." });
    await here.screen.until("That was all.");
    here.keys("\x0f");
    await here.screen.until(/shell: done[\s\S]*Ctrl-O previous page/);
    // A thought of less than two seconds is only behind the key.
    here.keys("\x0f");
    await here.screen.until(/What next\?/);
  });

  test("T68: neighbours that only read are one line; the key opens all of them, in order", async () => {
    const here = busy();
    const read = (call: string, path: string) => {
      const about = { paths: [{ path, access: "read" }], looksAt: { one: "file", several: "files" } } as const;
      const input = { path };
      here.happens(
        { type: "call.pending", message: "a", call, tool: "read", inputText: JSON.stringify(input), input, about },
        { type: "call.executing", message: "a", call, attempt: 1, key: call },
        { type: "call.completed", message: "a", call, output: `1\tthe ${path}\n` } as never,
      );
    };
    read("c1", "oak.txt");
    await here.screen.until("• read  oak.txt … done");
    read("c2", "elm.txt");
    await here.screen.until(/^• Read 2 files \(2 lines\) \(Ctrl-O shows them\)$/);
    here.happens({ type: "text.delta", message: "a", part: 9, text: "Both are trees." });
    here.happens({ type: "run.ended", run: "r", reason: "answered", leaf: "a" });
    expect(await here.screen.until("Both are trees.")).toMatch(
      /^❯ go\n\n• Read 2 files \(2 lines\) \(Ctrl-O shows them\)\nBoth are trees\.$/m,
    );
    here.keys("\x0f");
    expect(await here.screen.until("the elm.txt")).toMatch(
      /─ Read 2 files \(2 lines\)[\s\S]*the oak\.txt[\s\S]*the elm\.txt/,
    );
  });

  test("T68: an edit that its question showed is one line, and so is a change of the plan", async () => {
    const here = busy();
    const input = { path: "a.ts", old_text: "one", new_text: "two" };
    const about = {
      paths: [{ path: "a.ts", access: "write" }],
      change: { goes: "old_text", comes: "new_text" },
    } as const;
    const call = { message: "a", call: "c" } as const;
    const diff = "--- a.ts\n+++ a.ts\n@@ -1 +1 @@\n-one\n+two\n";
    const change = { path: "a.ts", kind: "changed", before: "", after: "", added: 1, removed: 1, diff } as const;
    here.happens(
      { ...call, type: "call.pending", tool: "edit", inputText: JSON.stringify(input), input, about },
      { ...call, type: "call.approval-requested", tool: "edit", question: "q", input } as never,
      { ...call, type: "call.approval-resolved", question: "q", allowed: true },
      { ...call, type: "call.executing", attempt: 1, key: "k" },
      { ...call, type: "file.changed", ...change },
      { ...call, type: "call.completed", output: "ok" } as never,
    );
    expect(await here.screen.until(/• edit {2}a\.ts … done(?:, \d\.\d s)?, \+1 -1$/)).not.toContain("two");
    const plan = [{ title: "look", status: "in_progress" }] as const;
    const steps = { type: "call.pending", message: "a", call: "p", tool: "update_plan", inputText: "{}" } as const;
    here.happens(
      { ...steps, input: {}, about: { title: "0 of 1 done", plan } },
      { type: "call.executing", message: "a", call: "p", attempt: 1, key: "p" },
      { type: "call.completed", message: "a", call: "p", output: "ok", about: { title: "0 of 1 done", plan } } as never,
    );
    expect(await here.screen.until(/update_plan {2}0 of 1 done … done/)).not.toContain("[~] look");
  });

  test("T24: a call that fails shows its last lines", async () => {
    const here = busy();
    here.calls("c", "shell", { command: "make" });
    here.happens(
      { type: "call.executing", message: "a", call: "c", attempt: 1, key: "k" },
      {
        type: "call.completed",
        message: "a",
        call: "c",
        output: `${["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"].join("\n")}\nno rule\nexit code 2`,
      },
    );
    const screen = await here.screen.until("exit code 2");
    expect(screen).toMatch(/shell {2}make … exit code 2/);
    expect(screen).toMatch(/ {4}c\n {4}d\n {4}e\n {4}f\n {4}g\n {4}h\n {4}i\n {4}j\n {4}k\n {4}no rule\n/);
    expect(screen).not.toMatch(/^ {4}b$/m);
  });

  test("T24: a tool's message to the model shows whole reasons; longer texts are cut after ten lines, and can be opened", async () => {
    const here = busy();
    const why = `${"it was changed ".repeat(9)}since`;
    const told = (message: string, text: string) =>
      here.happens({
        type: "message.added",
        message,
        parentId: "a",
        role: "user",
        author: "tool",
        parts: [{ type: "text", text }],
      });
    told("n1", `No block was applied.\na.ts: ${why}.\nEdit mode has ended.`);
    const short = await here.screen.until("Edit mode has ended.");
    expect(short.replace(/\n +/g, " ")).toContain(`tool: No block was applied. a.ts: ${why}. Edit mode has ended.`);
    told("n2", Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join("\n"));
    expect(await here.screen.until("Ctrl-O shows all")).toMatch(/ {4}line 10\n… \(2 more lines; Ctrl-O shows all\)/);
    here.keys("\x0f");
    expect(await here.screen.until("Sent to the model")).toMatch(/ {4}line 12$/m);
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

  test("the text of a sub-agent is not in the transcript", async () => {
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
    expect(await here.screen.until("Running launch_agent look")).not.toMatch(/hidden|the task/);
  });
});
