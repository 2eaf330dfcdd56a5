import { describe, expect, test } from "vitest";
import { intents, type Round } from "./intents.ts";
import { understand } from "./understand.ts";

function rounds(message: string): readonly Round[] {
  const wish = understand(message);
  if (wish.type !== "work") throw new Error(`"${message}" is understood as ${wish.type}`);
  return wish.rounds;
}

const list = (path: string) => ({ tool: "list", input: { path } });
const read = (path: string, range = {}) => ({ tool: "read", input: { path, ...range } });
const search = (pattern: string, place = {}) => ({ tool: "search", input: { pattern, ...place } });
const write = (path: string, content: string) => ({ tool: "write", input: { path, content } });
const edit = (path: string, before: string, after: string) => ({
  tool: "edit",
  input: { path, old_text: before, new_text: after },
});
const shell = (command: string) => ({ tool: "shell", input: { command } });

test.each([
  ["list files", list(".")],
  ["List the files in src.", list("src")],
  ["list files in the src folder, please", list("src")],
  ["what is in this folder?", list(".")],
  ["ls ..", list("..")],
  ["show me the files", list(".")],
  ["read a.txt", read("a.txt")],
  ["can you show me a.txt please?", read("a.txt")],
  ["what's in notes.txt?", read("notes.txt")],
  ["cat 'my notes.txt'", read("my notes.txt")],
  ["read a.txt lines 3-5", read("a.txt", { start: 3, end: 5 })],
  ["show lines 2 to 4 of a.txt", read("a.txt", { start: 2, end: 4 })],
  ["open a.txt, line 7", read("a.txt", { start: 7, end: 7 })],
  ["search for TODO in src", search("TODO", { path: "src" })],
  ["search src for TODO", search("TODO", { path: "src" })],
  ["grep 'foo bar' in src/*.ts", search("foo bar", { glob: "src/*.ts" })],
  ["find a.b(c)", search("a\\.b\\(c\\)")],
  ["find /a.b/", search("a.b")],
  ["where is main defined?", search("main")],
  ["create notes.txt with 'buy milk'", write("notes.txt", "buy milk")],
  ["create a file named plan containing hello there!", write("plan", "hello there!")],
  ["create a.md with:\n```md\n# x\nthen run y\n```", write("a.md", "# x\nthen run y\n")],
  ["write 'hi' to a/b.txt", write("a/b.txt", "hi")],
  ["create an empty file called a.txt", write("a.txt", "")],
  ["run `npm test`.", shell("npm test")],
  ["run npm test", shell("npm test")],
  ["`ls -la`", shell("ls -la")],
  ["! ls .", shell("ls .")],
  ["run if true; then echo a; fi", shell("if true; then echo a; fi")],
])("%s", (message, call) => {
  expect(rounds(message)).toEqual([[call]]);
});

test.each([
  ["replace 'a b' with 'c' in a.txt", edit("a.txt", "a b", "c")],
  ["change foo to bar in the file a.txt.", edit("a.txt", "foo", "bar")],
  ["edit a.txt: replace x by y", edit("a.txt", "x", "y")],
])("a change reads the file first: %s", (message, call) => {
  expect(rounds(message)).toEqual([[read("a.txt")], [call]]);
});

describe("several requests", () => {
  test("that are independent run together", () => {
    expect(rounds("read a.txt and b.txt")).toEqual([[read("a.txt"), read("b.txt")]]);
    expect(rounds("read a.txt, b.txt and 'c d.txt'")).toEqual([[read("a.txt"), read("b.txt"), read("c d.txt")]]);
    expect(rounds("read a.txt and list src")).toEqual([[read("a.txt"), list("src")]]);
  });

  test("joined by then are made one after the other", () => {
    const wanted = [[list("src")], [read("a.txt")], [shell("ls")]];
    expect(rounds("list src and then read a.txt, then run ls")).toEqual(wanted);
    expect(rounds("List src. Then read a.txt. Run ls")).toEqual(wanted);
    expect(rounds("1. list src\n2. read a.txt\n3. run ls")).toEqual(wanted);
  });

  test("a change and the request after it", () => {
    expect(rounds("change a to b in x.txt then read x.txt")).toEqual([
      [read("x.txt")],
      [edit("x.txt", "a", "b")],
      [read("x.txt")],
    ]);
  });

  test("quoted text and file contents are never split", () => {
    expect(rounds("create n.txt with 'first then read x' then read n.txt")).toEqual([
      [write("n.txt", "first then read x")],
      [read("n.txt")],
    ]);
    expect(rounds("create n.txt with: eat and then read. List all!")).toEqual([
      [write("n.txt", "eat and then read. List all!")],
    ]);
    expect(rounds("run `a and then b`")).toEqual([[shell("a and then b")]]);
  });
});

test.each([
  "hello",
  "Hi there!",
  "help",
  "what can you do?",
  "who are you?",
  "explain what you can do",
  "how do I use this",
  "",
])("a question about the demo is recognised: %s", (message) => expect(understand(message)).toEqual({ type: "guide" }));

test.each([
  ["write me a poem", "write me a poem"],
  ["make coffee", "make coffee"],
  ["read a.txt and summarise it", "read a.txt and summarise it"],
  ["list src, then dance", "dance"],
  ["What is the capital of France?", "What is the capital of France?"],
])("is not understood, as a whole: %s", (message, words) => {
  expect(understand(message)).toEqual({ type: "unknown", words });
});

test("a long text is no request, and costs no time", () => {
  const text = `change ${"a to b ".repeat(100_000)}`;
  expect(understand(text)).toEqual({ type: "unknown", words: text.trim() });
});

test.each(["go on", "Continue.", "Go on from where your last answer stopped."])(
  "a request to continue is recognised: %s",
  (message) => {
    expect(understand(message)).toEqual({ type: "go-on" });
  },
);

test("every example in the guide is understood", () => {
  for (const { example } of intents) expect(understand(example).type).not.toBe("unknown");
});
