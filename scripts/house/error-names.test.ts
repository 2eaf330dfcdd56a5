import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");

test("the desk's codes name errors that exist: a renamed error would become an internal error", () => {
  const [, table = ""] = /const CODES:.*?= \{(.*?)\n\}/s.exec(read("packages/desk/src/request/problem.ts")) ?? [];
  const coded = [...table.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name);
  const sources = globSync("packages/*/src/**/*.ts", { cwd: root }).map(read);
  const names = new Set(
    sources.flatMap((text) => [...text.matchAll(/readonly name = "(\w+)"/g)].map(([, name]) => name)),
  );
  expect(coded.length).toBeGreaterThan(15);
  expect(coded.filter((name) => !names.has(name))).toEqual([]);
});
