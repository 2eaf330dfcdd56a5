import { formatDuration, formatSpent } from "@banyan/client/words";
import { type Call, emptyConversation, type FeedItem, reduce } from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import { formatCost, NEW_PROBLEMS } from "@banyan/core/shown";
import { characterTexts, tornCharacters } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { callBegin, callDetails, callEndText } from "./call-line.ts";
import { excerptLine, firstLines, lastLines, sentenceLines, wrapSentence } from "./fit-text.ts";
import { nameLines } from "./name-lines.ts";
import { styleFor } from "./style.ts";
import { type TurnEnd, turnFacts } from "./turn-end.ts";

const plain = styleFor(process.stdout, "never");

function call(changes: Partial<Call>): Call {
  return {
    id: "1",
    tool: "shell",
    inputText: "",
    input: { command: "ls" },
    about: { command: "ls" },
    status: "completed",
    attempt: 1,
    progress: "",
    ...changes,
  };
}

function line(changes: Partial<Call>, columns = 80): string {
  return `${callBegin(call(changes), plain, columns)}${callEndText(call(changes), plain)}`;
}

test("E1: a call that changed a file shows the new problems below its line", () => {
  const change = { path: "a.ts", kind: "changed", before: "", after: "", added: 1, removed: 0, diff: "" } as const;
  const output = `Changed.\n\n${NEW_PROBLEMS}\na.ts:2: error: Expected 1 argument.\na.ts:3: warning: Unused\u001b[2J.`;
  const edit = call({ tool: "edit", about: {}, output, changes: [change] });
  const details = callDetails(edit, plain, 80);
  expect(details).toEqual([
    "    a.ts:2: error: Expected 1 argument.",
    expect.stringContaining("a.ts:3: warning: Unused"),
  ]);
  expect(details.join()).not.toContain("\u001b");
  expect(callDetails(call({ tool: "read", about: {}, output }), plain, 80)).toEqual([]);
});

describe("T24: a call is one line", () => {
  test("with its main argument, how it ended and how long it took", () => {
    expect(line({ startedAt: 1_000, endedAt: 2_230 })).toBe("• shell  ls … done, 1.2 s");
    expect(line({ startedAt: 1_000, endedAt: 1_049 })).toBe("• shell  ls … done");
    expect(line({ tool: "read", about: { paths: [{ path: "a.ts", access: "read" }] } })).toBe("• read  a.ts … done");
    const searching: About = { title: "TODO", paths: [{ path: "src", access: "read" }] };
    expect(line({ tool: "search", about: searching })).toBe("• search  TODO … done");
    expect(line({ tool: "look", about: {}, input: { at: 3, what: "the sky" } })).toBe("• look  the sky … done");
    expect(line({ input: undefined, inputText: "{nonsense", status: "failed" })).toBe("• shell  {nonsense … not run");
    expect(line({ status: "failed", startedAt: 1, endedAt: 2 })).toBe("• shell  ls … failed");
  });

  test.each([
    ["shell", "• shell  npm run t… done, 1.2 s"],
    ["launch_agent", "• launch_agent … done, 1.2 s"],
  ])("T26, T39: in 40 columns, of %s too", (tool, shown) => {
    const input = { command: "npm run test -- --all" };
    expect(line({ tool, input, about: {}, startedAt: 1_000, endedAt: 2_230 }, 40)).toBe(shown);
  });

  test("and the end of a task with its summary, if any: the result is below, as the answer", () => {
    const end = (title?: string) =>
      line({
        tool: "finish_task",
        input: { result: "It is painted." },
        about: { result: "result", ...(title !== undefined && { title }) },
      });
    expect(end("painted")).toBe("• finish_task  painted … done");
    expect(end("")).toBe("• finish_task … done");
    expect(end()).toBe("• finish_task … done");
  });

  test("also of a long argument on several lines", () => {
    const text = line({ about: { command: `${"echo ".repeat(40)}\nls` } }, 60);
    expect(text).not.toContain("\n");
    expect(text.length).toBeLessThanOrEqual(60);
  });

  test("T49: and a failed call shows its last ten lines, the number of hidden lines, and the key that shows them", () => {
    const output = Array.from({ length: 20 }, (_, index) => `line ${index}`).join("\n");
    const details = callDetails(call({ status: "failed", output }), plain, 80);
    const last = Array.from({ length: 10 }, (_, index) => `line ${index + 10}`);
    expect(details.map((text) => text.trim())).toEqual(["… (10 more lines)", ...last]);
    const [hint] = callDetails(call({ status: "failed", output }), plain, 80, "Ctrl-O");
    expect(hint?.trim()).toBe("… (10 more lines; Ctrl-O shows all)");
    expect(callDetails(call({ output }), plain, 80)).toEqual([]);
  });

  test.each([
    ["Vitest", " FAIL  src/a.test.ts > adds"],
    ["node --test", "✖ adds (1.2ms)"],
    ["pytest", "FAILED test_a.py::test_adds - assert 1 == 2"],
    ["go test", "--- FAIL: TestAdds (0.00s)"],
    ["cargo test", "thread 'adds' panicked at src/lib.rs:4:5:"],
    ["TAP", "not ok 3 - adds"],
  ])("T49: of a run of tests by %s, what is shown is what it says of those that failed", (_runner, failure) => {
    const passed = Array.from({ length: 30 }, (_, index) => `ok ${index}`);
    const output = [...passed, failure, "expected 1 to be 2", ...passed, "exit code 1"].join("\n");
    const details = callDetails(call({ output }), plain, 80).map((text) => text.trim());
    expect(details.slice(0, 3)).toEqual(["… (52 more lines)", failure.trim(), "expected 1 to be 2"]);
  });

  test("T49: the details begin at Node's names of failed tests, and include the errors", () => {
    const told = ["✖ failing tests:", "test at a.test.mjs:4:1", "✖ adds (1ms)", "AssertionError: 2 !== 3"];
    const trace = Array.from({ length: 20 }, (_, index) => `at frame ${index}`);
    const output = ["✔ one (1ms)", "✖ adds (1ms)", "ℹ tests 2", "ℹ fail 1", ...told, ...trace, "exit code 1"].join(
      "\n",
    );
    const details = callDetails(call({ output }), plain, 80).map((text) => text.trim());
    expect(details.slice(0, 5)).toEqual(["… (18 more lines)", ...told]);
  });

  test("T66, T67: a command with a reported failure does not appear as done, and has the number of its changed files", () => {
    const failed = { output: "no such file\nexit code 2" };
    expect(line(failed)).toBe("• shell  ls … exit code 2");
    expect(line({ ...failed, changedFiles: 3 })).toBe("• shell  ls … exit code 2, 3 files changed");
    expect(callDetails(call(failed), plain, 80)).toEqual(["    no such file"]);
  });
});

test("T68: a turn ends with its time, changed files and cost, if it changed files, cost money or took half a minute", () => {
  const state = emptyConversation();
  let seq = 0;
  const happens = (item: object) => reduce(state, { ...item, seq: ++seq, epoch: 1, at: 1_000 } as FeedItem);
  const change = (call: string, path: string) => ({
    type: "file.changed",
    message: call[0],
    call,
    path,
    kind: "created",
  });
  happens({ type: "message.added", message: "u", parentId: null, role: "user", author: "user", parts: [] });
  happens({
    type: "run.started",
    run: "r",
    agent: "banyan",
    model: "m",
    settings: {},
    limits: {},
    mode: "chat",
    leaf: "u",
  });
  happens({ type: "message.started", message: "a", parentId: "u", run: "r", model: "m" });
  const end = (at: number, cost?: number) =>
    ({ type: "run.ended", run: "r", reason: "answered", leaf: "a", at, spent: { steps: 1, cost } }) as TurnEnd;
  expect(turnFacts(end(30_999), state, 1_000)).toEqual([]);
  expect(turnFacts(end(33_400), state, 1_000)).toEqual(["32 s"]);
  expect(turnFacts(end(1_500, 0.04), state, 1_000)).toEqual(["$0.04"]);
  for (const call of ["a1", "a2"])
    happens({ type: "call.pending", message: "a", call, tool: "write", inputText: "{}", input: {} });
  for (const path of ["x", "y", "x"]) happens({ ...change("a1", path), added: 1, removed: 0, diff: "" });
  happens({ type: "call.completed", message: "a", call: "a2", tool: "shell", output: "", changedFiles: 3 });
  expect(turnFacts(end(3_000, 0.5), state, 1_000)).toEqual(["2 s, 5 files changed, $0.50"]);
  expect(turnFacts(end(3_000), state, undefined)).toEqual(["5 files changed"]);
});

describe("amounts", () => {
  test("a cost that is unknown is not zero", () => {
    expect([undefined, 0, 0.00012, 0.5, 12].map((cost) => formatCost(cost))).toEqual([
      "unknown",
      "$0",
      "$0.00012",
      "$0.50",
      "$12.00",
    ]);
  });

  test("durations", () => {
    expect([30, 1_240, 59_960, 185_000, 7_300_000].map(formatDuration)).toEqual([
      "0.0 s",
      "1.2 s",
      "1 min 0 s",
      "3 min 5 s",
      "2 h 1 min",
    ]);
  });

  test("calls without tokens have no amounts", () => {
    const none = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };
    expect(formatSpent(none, undefined)).toBe("");
    expect(formatSpent({ ...none, input: 1_200, cached: 1_000, output: 5 }, undefined)).toBe(
      "1,200 (1,000 cached) tokens in, 5 out · cost unknown",
    );
    expect(formatSpent({ ...none, input: 1, output: 5, reasoning: 3 }, 0)).toBe(
      "1 tokens in, 5 out (3 reasoning) · cost $0",
    );
  });
});

describe("excerpts", () => {
  test("excerpts are cut between characters, with a sign", () => {
    expect(excerptLine("short", 10)).toBe("short");
    expect(excerptLine("👩👩👩👩", 3)).toBe("👩👩…");
    expect(excerptLine(`a${" ".repeat(1_000)}b`, 10)).toMatch(/…$/);
  });

  test("the first lines count the hidden lines; the last lines skip empty lines", () => {
    expect(firstLines("1\n2\n3\n4\n5", 2)).toBe("1\n2\n… (3 more lines)");
    expect(firstLines("1\n2\n3", 2)).toBe("1\n2\n3");
    expect(lastLines("1\n\n2\n \n3\n", 2, 80)).toEqual(["2", "3"]);
  });
});

test("sentences are broken between words; colours take no room", () => {
  expect(wrapSentence("one two three", 7)).toBe("one two\nthree");
  expect(wrapSentence("  one  two three", 10)).toBe("  one  two\n  three");
  // The terminal breaks a long word, and text continues after its end.
  expect(wrapSentence("one /a/long/path two three", 8)).toBe("one\n/a/long/path two\nthree");
  expect(wrapSentence("\x1b[31mone\x1b[39m two three", 7)).toBe("\x1b[31mone\x1b[39m two\nthree");
  // Each line has its own codes, because lines are drawn one by one.
  expect(wrapSentence("\x1b[2mone two\x1b[22m", 4)).toBe("\x1b[2mone\x1b[0m\n\x1b[2mtwo\x1b[22m");
  expect(sentenceLines("\x1b[2mone two\x1b[22m", 4)).toHaveLength(2);
  for (const own of ["  one two", "one\ntwo"]) expect(sentenceLines(own, 4)).toEqual([own]);
});

test("names stand beside what they mean; a long name, or a narrow terminal, has them below each other", () => {
  const rows = [
    { name: ["/a"], text: "one two three four five six seven eight nine" },
    { name: ["/long [with | many | words | behind | it]"], text: "short" },
  ];
  const style = { dim: (text: string) => text, accent: (text: string) => text };
  expect(nameLines(rows, 60, style)).toEqual([
    "  /a  one two three four five six seven eight nine",
    "  /long [with | many | words | behind | it]",
    "      short",
  ]);
  expect(nameLines(rows, 30, style).slice(0, 4)).toEqual([
    "  /a",
    "      one two three four five",
    "      six seven eight nine",
    "  /long [with | many | words |",
  ]);
  expect(nameLines(rows, 30, style).slice(4)).toEqual(["  behind | it]", "      short"]);
});

test("a name that is much longer than all others stands by itself; lists that belong together have the same columns", () => {
  const rows = ["/a", "/bb", "/waiting [drop n | edit n text]"].map((name) => ({ name: [name], text: "text" }));
  const style = { dim: (text: string) => text, accent: (text: string) => text };
  expect(nameLines(rows, 100, style)).toEqual([
    "  /a   text",
    "  /bb  text",
    "  /waiting [drop n | edit n text]",
    "       text",
  ]);
  expect(nameLines(rows.slice(0, 1), 100, style, rows)).toEqual(["  /a   text"]);
});

test("F46: texts that are cut to a width are never cut inside a character", () => {
  for (const [index, characters] of characterTexts(150, 60).entries()) {
    const text = characters.join("");
    const width = 2 + (index % 40);
    expect(tornCharacters(excerptLine(text, width)), text).toEqual([]);
    expect(tornCharacters(lastLines(text, 3, width).join("\n")), text).toEqual([]);
  }
});
