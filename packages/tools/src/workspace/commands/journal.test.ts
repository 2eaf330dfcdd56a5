import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { Journal } from "./journal.ts";

test("B47: a journal keeps the last 200 lines, each cut, wherever the pieces end", () => {
  const journal = new Journal();
  for (let line = 0; line < 1_000; line += 1) {
    journal.push("li");
    journal.push(`ne ${line}\n`);
  }
  journal.push(`${"x".repeat(5_000)}\n`);
  journal.push("unfinished");
  const lines = journal.text.split("\n");
  expect(lines).toHaveLength(201);
  expect(lines[0]).toBe("line 801");
  expect(lines.at(-2)).toBe("x".repeat(2_000));
  expect(lines.at(-1)).toBe("unfinished");
  expect(journal.last).toBe("unfinished");
});

test("S12: a server's output is plain text", () => {
  const journal = new Journal();
  journal.push("\x1b[31mred\x1b[0m\n");
  journal.note("info", "two\nlines\x07");
  expect(journal.text).toBe("red\ninfo: two\ninfo: lines");
  expect(new Journal().last).toBeUndefined();
});

test.each([
  ["an error", 'throw new TypeError("no key")', "TypeError: no key"],
  ["a module that is not there", 'import("./none.js")', /^Error \[ERR_MODULE_NOT_FOUND\]: Cannot find module /],
  ["what is no error", 'console.error("before"); throw "enough"', /^Node\.js v/],
])("B47: the last words of a Node that crashed are not its version: %s", (_, code, words) => {
  const journal = new Journal();
  journal.push(spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }).stderr);
  expect(journal.last).toMatch(words);
});
