import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { WorkspaceFiles } from "@banyan/host/workspace-files";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { completeFiles } from "./complete-files.ts";
import { type Completer, Completion } from "./completion.ts";
import { completeNames } from "./completions.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "banyan-complete-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function files(...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), "x".repeat(600));
  }
}

/** The completions of the word before the cursor, and the text after the first one is applied. */
async function completed(completer: Completer, text: string, force = false) {
  const completion = new Completion(() => [completer]);
  const { signal } = new AbortController();
  const found = await completion.getSuggestions([text], 0, text.length, { signal, force });
  const [first] = found?.items ?? [];
  const applied = first && completion.applyCompletion([text], 0, text.length, first, found?.prefix ?? "");
  return { labels: found?.items.map(({ label }) => label) ?? [], help: first?.description, line: applied?.lines[0] };
}

test("T14: a suggestion for an earlier text of the prompt is not applied to the current text", async () => {
  const completion = new Completion(() => [{ suggest: async () => [{ text: "/assess" }] }]);
  const found = await completion.getSuggestions(["/ass"], 0, 4, { signal: new AbortController().signal });
  const [first] = found?.items ?? [];
  const line = "/assess a.txt";
  const applied = first && completion.applyCompletion([line], 0, line.length, first, found?.prefix ?? "");
  expect(applied).toEqual({ lines: [line], cursorLine: 0, cursorCol: line.length });
});

describe("T14: @ completes", () => {
  const complete = (text: string, force = false) => completed(completeFiles(new WorkspaceFiles(root)), text, force);

  test("files and folders, by any letters of them in order", async () => {
    files("src/main.ts", "src/chat/talk.ts", "README.md");
    expect(await complete("see @talk")).toMatchObject({ labels: ["src/chat/talk.ts"], line: "see @src/chat/talk.ts " });
    expect((await complete("@srchat")).labels).toEqual(["src/chat/", "src/chat/talk.ts"]);
    expect((await complete("@srchat")).line).toBe("@src/chat/");
    expect((await complete("see talk")).labels).toEqual([]);
  });

  test("no files that git ignores, in a repository", async () => {
    files("kept.txt", "ignored.txt", "sub/ignored.txt");
    execFileSync("git", ["init", "-q"], { cwd: root });
    writeFileSync(join(root, ".gitignore"), "ignored.txt\n");
    expect((await complete("@txt")).labels).toEqual(["kept.txt"]);
  });

  test("paths with blanks, in quotes", async () => {
    files("my notes.md");
    expect((await complete("@notes")).line).toBe('@"my notes.md" ');
    expect((await complete('see @"my n')).line).toBe('see @"my notes.md" ');
  });

  test.each([
    ["it's.txt", "@it", `@"it's.txt" `],
    ['say "hi".txt', "@say", '@"say \\"hi\\".txt" '],
    ["line\nend.txt", "@line", '@"line\\nend.txt" '],
    ["-dash.txt", "@dash", "@-dash.txt "],
    ["app/[id]/(g)/page.tsx", "@page", '@"app/[id]/(g)/page.tsx" '],
    ["cafe\u0301.txt", "@caf", "@cafe\u0301.txt "],
  ])("F82: the name %j, as a message takes it", async (name, typed, line) => {
    files(name);
    expect((await complete(typed)).line).toBe(line);
  });

  test("T63, K22: with Tab into folders with blanks, quoted or not, step by step", async () => {
    files("foo bar/first one.md", "foo bar/sub dir/deep.ts", "foo.txt", "Über uns/ä.md");
    expect((await complete("see @foo b", true)).line).toBe('see @"foo bar/"');
    expect((await complete('see @"foo bar/"', true)).labels).toEqual([
      "foo bar/",
      "foo bar/sub dir/",
      "foo bar/first one.md",
      "foo bar/sub dir/deep.ts",
    ]);
    expect((await complete('see @"foo bar/"fir', true)).line).toBe('see @"foo bar/first one.md" ');
    expect((await complete('@"foo bar/"sub', true)).line).toBe('@"foo bar/sub dir/"');
    expect((await complete('@"foo bar/sub dir/deep', true)).line).toBe('@"foo bar/sub dir/deep.ts" ');
    expect((await complete("@foo bar/f", true)).line).toBe('@"foo bar/first one.md" ');
    expect((await complete("@foo\\ bar/sub\\ ", true)).line).toBe('@"foo bar/sub dir/"');
    expect((await complete("@über u", true)).line).toBe('@"Über uns/"');
    expect((await complete("compare @foo.txt with foo.t", true)).line).toBe("compare @foo.txt with foo.txt ");
    expect((await complete("see @foo b")).labels).toEqual([]);
    expect((await complete('see @"foo bar/" and wor', true)).labels).toEqual([]);
  });

  test("a pattern, with how many files it means and how large they are", async () => {
    files("src/a.ts", "src/sub/b.ts", "src/c.md");
    expect(await complete("@src/**/*.ts")).toEqual({
      labels: ["@src/**/*.ts"],
      help: "2 files, 1.2 kB",
      line: "@src/**/*.ts ",
    });
  });

  test("F79: the suggestion of a pattern counts ignored files; a pattern without files says so", async () => {
    files("dist/a.js", "src/b.ts");
    execFileSync("git", ["init", "-q"], { cwd: root });
    writeFileSync(join(root, ".gitignore"), "dist/\n");
    expect((await complete("@dist/*.js")).help).toBe("1 file, 600 B");
    expect((await complete("@dist/*.ts")).help).toBe(
      "Can't attach dist/*.ts: it matches no file outside of node_modules and .git.",
    );
  });

  test("T15: with Tab an address or a pattern that was written without @, and nothing by itself", async () => {
    files("src/a.ts", "src/b.ts");
    expect(await complete("see https://a.example/b", true)).toMatchObject({ line: "see @https://a.example/b " });
    expect(await complete("see src/*.ts", true)).toEqual({
      labels: ["@src/*.ts"],
      help: "2 files, 1.2 kB",
      line: "see @src/*.ts ",
    });
    expect((await complete("see https://a.example/b")).labels).toEqual([]);
    expect((await complete("see src/*.ts")).labels).toEqual([]);
  });

  test("with Tab a path without @", async () => {
    files("src/main.ts");
    expect((await complete("cat src/m", true)).line).toBe("cat src/main.ts ");
  });

  test("current names: agents, earlier messages", async () => {
    const names = completeNames(() => [
      { text: "@reviewer", help: "an agent that reviews" },
      { text: "#3", label: "#3", help: "the tests fail" },
    ]);
    expect((await completed(names, "ask @rev")).line).toBe("ask @reviewer ");
    expect((await completed(names, "/edit #")).labels).toEqual(["#3"]);
    expect((await completed(names, "/edit #3")).labels).toEqual([]);
    expect((await completed(names, "/edit #3", true)).labels).toEqual(["#3"]);
    expect((await completed(names, "as in #tests")).line).toBe("as in #3 ");
  });
});

test("a suggestion that is cut for its help shows the cut", async () => {
  const suggest = async () => [{ text: "/waiting", label: "/waiting [drop n | edit n text | send]", help: "list" }];
  expect((await completed({ suggest }, "/w")).labels).toEqual(["/waiting [drop n | edit n tex…"]);
});

test("S12, F82: a suggestion writes out control, hidden and reordering characters of a name", async () => {
  const names = completeNames(() => [{ text: "@a", label: "@a\x1b[2J\u202etxt.exe", help: "b\nc" }]);
  expect(await completed(names, "@")).toMatchObject({ labels: ["@a\\u{1b}[2J\\u{202e}txt.exe"], help: "b c" });
});

test("a look that fails, or that the next key aborts, suggests nothing, and the others suggest what they know", async () => {
  const fails = { suggest: () => Promise.reject(new Error("The disk is gone.")) };
  const knows = completeNames(() => [{ text: "@a" }]);
  const completion = new Completion(() => [fails, knows]);
  const options = { signal: new AbortController().signal };
  expect(await completion.getSuggestions(["@"], 0, 1, options)).toMatchObject({ items: [{ value: "@a" }] });

  files("a.ts");
  const pressed = new AbortController();
  const looks = new Completion(() => [completeFiles(new WorkspaceFiles(root))]);
  const found = looks.getSuggestions(["@a"], 0, 2, pressed);
  pressed.abort();
  expect(await found).toBeNull();
});
