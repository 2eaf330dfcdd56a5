import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Returns type names that several of these files declare, each with the files. */
function namedTwice(files: ReadonlyMap<string, string>): string[] {
  const places = new Map<string, string[]>();
  for (const [file, source] of files)
    for (const [, name = ""] of source.matchAll(/^export (?:abstract )?(?:interface|type|class) (\w+)/gm))
      places.set(name, [...(places.get(name) ?? []), file]);
  return [...places].filter(([, [first, ...more]]) => first && more.length > 0).map(([name, at]) => `${name}: ${at}`);
}

test.each(globSync("packages/*/src", { cwd: root }).toSorted())(
  "H11: in %s no name of a type stands for two things",
  (folder) => {
    const files = globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root }).filter(
      (path) => !/\.test\.tsx?$|\.fixture\.tsx?$|\/testing\//.test(path),
    );
    expect(namedTwice(new Map(files.map((path) => [path, readFileSync(root + path, "utf8")])))).toEqual([]);
  },
);

test("H11: a name that two files have is found", () => {
  const files = { "a/one.ts": "export interface Place {}\n", "b/two.ts": 'export type Place = "x";\n' };
  expect(namedTwice(new Map(Object.entries(files)))).toEqual(["Place: a/one.ts,b/two.ts"]);
});
