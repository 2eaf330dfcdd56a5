import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commentsOf, readProse } from "./plain-prose.ts";

const root = join(import.meta.dirname, "../..");
const packages = globSync("packages/*/src", { cwd: root });
const isProduct = (file: string) => !/\.test\.tsx?$|\.fixture\.tsx?$|\/testing\//.test(file);

describe("plain English in comments", () => {
  const read = packages.flatMap((source) =>
    globSync(`${source}/**/*.{ts,tsx}`, { cwd: root })
      .filter(isProduct)
      .map((file) => ({ source, file, ...readProse(commentsOf(readFileSync(join(root, file), "utf8")).join("\n\n")) })),
  );
  const countOf = (files: typeof read) => files.reduce((sum, { sentences }) => sum + sentences, 0);

  test.each(packages)("at most 3 of 100 sentences of %s begin with a relative clause", (source) => {
    const own = read.filter((file) => file.source === source);
    const wrong = own.flatMap(({ file, clauseFirst }) => clauseFirst.map((sentence) => `${file}: ${sentence}`));
    expect(wrong.slice(Math.floor(countOf(own) * 0.03))).toEqual([]);
  });

  test("at most 3 of 1,000 sentences only point at things, over all packages together", () => {
    const wrong = read.flatMap(({ file, pointing }) => pointing.map((sentence) => `${file}: ${sentence}`));
    expect(wrong.slice(Math.floor(countOf(read) * 0.003))).toEqual([]);
  });

  test("comments are taken out of a source without their marks and examples", () => {
    const source = [
      "/** The first sentence. The second",
      " * goes on here.",
      " * @example const what = of(it);",
      " */",
      'const address = "https://example.com"; // Trailing notes are not judged.',
      "  // An inner comment",
      "  // of two lines.",
      "  const next = 1;",
      "  // biome-ignore lint/style: a reason.",
      "  // Another comment.",
    ];
    expect(commentsOf(source.join("\n"))).toEqual([
      "The first sentence. The second\ngoes on here.",
      "An inner comment\nof two lines.",
      "Another comment.",
    ]);
  });
});
