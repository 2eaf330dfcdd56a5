import { expect, test } from "vitest";
import { attachableAtEnd, attachableIn } from "./attachment-lines.ts";

test.each<[string, string[]]>([
  ["see https://a.example/b?c=1.", ["https://a.example/b?c=1"]],
  ["http://a.example and http://a.example", ["http://a.example"]],
  ["all of src/**/*.ts and *.md, please", ["src/**/*.ts", "*.md"]],
  ["@https://a.example and @src/*.ts go along already", []],
  ["**bold.** and *a.b* are words, as are 2*3, a * b and what?", []],
  ["src/main.ts is a name", []],
])("T15: what could go along in: %s", (text, names) => {
  expect(attachableIn(text)).toEqual(names);
});

test("T15: the word that is being written", () => {
  expect(attachableAtEnd("look at https://a.example/")).toBe("https://a.example/");
  expect(attachableAtEnd("look at https://a.example/ ")).toBeUndefined();
});
