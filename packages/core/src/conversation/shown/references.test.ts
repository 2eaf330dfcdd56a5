import { describe, expect, test } from "vitest";
import { referencesIn } from "./references.ts";

describe("B46: what a message names", () => {
  test.each<[string, string[]]>([
    ["Read @a.txt, please.", ["a.txt"]],
    ["@a.txt", ["a.txt"]],
    ["Compare @src/one.ts with @src/two.ts.", ["src/one.ts", "src/two.ts"]],
    ['See @"with blank.txt"!', ["with blank.txt"]],
    ["(@src/) and @**/*.ts", ["src/", "**/*.ts"]],
    ["@https://a.example/x?y=1.", ["https://a.example/x?y=1"]],
    ["Mail me@a.example or @@twice", []],
    ["main, a.txt and https://a.example stay words", []],
    ["use @scope/package@1.2.3", ["scope/package@1.2.3"]],
  ])("%s", (text, names) => {
    expect(referencesIn(text).map(({ name }) => name)).toEqual(names);
  });
});
