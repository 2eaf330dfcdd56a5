import { applyPatch, parsePatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { lineDiff } from "./line-diff.ts";
import { boundedDiff, unifiedDiff } from "./unified-diff.ts";

const lines = fc.array(fc.constantFrom("a", "b", "c", "", "-x", "+y"), { maxLength: 12 });
const texts = fc.tuple(lines, fc.boolean()).map(([all, isEnded]) => all.join("\n") + (isEnded ? "\n" : ""));

test("a diff, applied to the old text, gives the new text", () => {
  fc.assert(
    fc.property(texts, texts, fc.string(), (before, after, around) => {
      const [old, now] = [`${around}\n`.repeat(9) + before, `${around}\n`.repeat(9) + after];
      const diff = lineDiff(old, now);
      if (old !== now) expect(applyPatch(old, boundedDiff("a.txt", { ...diff }))).toBe(now);
      else expect(boundedDiff("a.txt", diff)).toBe("");
    }),
  );
});

test("lines are counted, and numbered from the start of the file", () => {
  const many = "x\n".repeat(10_000);
  const diff = lineDiff(`${many}old\n${many}`, `${many}new\nand more\n${many}`);
  expect(diff).toMatchObject({ added: 2, removed: 1, isGivenUp: false });
  expect(unifiedDiff("a.txt", diff)).toBe(
    "--- a.txt\n+++ a.txt\n@@ -9998,7 +9998,8 @@\n x\n x\n x\n-old\n+new\n+and more\n x\n x\n x",
  );
});

test("a difference that is too large to search removes all lines and adds all lines", () => {
  const [before, after] = ["a\n".repeat(3000), "b\n".repeat(4000)];
  const diff = lineDiff(`1\n2\n3\n4\n${before}`, `1\n2\n3\n4\n${after}`);
  expect(diff).toMatchObject({ added: 4003, removed: 3003, isGivenUp: true });
  expect(unifiedDiff("a.txt", diff)).toBe("[no diff: more than 1000 lines changed]");
});

test("the kept part of a large diff has at most 64 KiB, and is a valid diff of its first lines", () => {
  const before = Array.from({ length: 3000 }, (_, n) => `before ${n} ${"é".repeat(60)}\n`);
  const after = before.map((line, n) => (n % 9 === 0 ? line.replace("before", "after") : line));
  const kept = boundedDiff("a.txt", lineDiff(before.join(""), after.join("")));
  expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(64 * 1024);
  expect(Buffer.byteLength(kept)).toBeGreaterThan(60 * 1024);
  expect(parsePatch(kept)[0]?.hunks.length).toBeGreaterThan(40);
  const applied = applyPatch(before.join(""), kept);
  expect(applied).toMatch(/^after 0 /);

  const oneLine = boundedDiff("a.txt", lineDiff("x".repeat(100_000), "y".repeat(100_000)));
  expect(oneLine).toBe("");
});

test("control characters of a file are shown as pictures", () => {
  expect(boundedDiff("a.txt", lineDiff("", "\x1b[31mred\n"))).toBe(
    "--- a.txt\n+++ a.txt\n@@ -0,0 +1,1 @@\n+\u241b[31mred\n",
  );
});
