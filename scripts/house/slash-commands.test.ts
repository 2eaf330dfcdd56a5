import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("W65: each action that another part of the page carries out has its place there", () => {
  const sources = globSync("packages/web/src/**/*.{ts,tsx}")
    .filter((file) => !file.includes(".test."))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const [, names = ""] = /OF_OTHER_PARTS: ReadonlySet<string> = new Set\(\[([^\]]*)\]\)/.exec(sources) ?? [];
  const others = [...names.matchAll(/"(\w+)"/g)].map(([, name = ""]) => name);
  expect(others.length).toBeGreaterThan(4);
  expect(others.filter((name) => !sources.includes(`slash: "${name}"`))).toEqual([]);
});
