import { expect, test } from "vitest";
import { Journal } from "./journal.ts";

test("B47: a journal keeps the last 200 lines, each cut, wherever the pieces break", () => {
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

test("S12: what a server writes is plain text", () => {
  const journal = new Journal();
  journal.push("\x1b[31mred\x1b[0m\n");
  journal.note("info", "two\nlines\x07");
  expect(journal.text).toBe("red\ninfo: two\ninfo: lines");
  expect(new Journal().last).toBeUndefined();
});
