import { expect, test } from "vitest";
import { JsonPlaces, parseJson } from "./json-text.ts";

const TEXT = `{
\t"a": { "b.c": [1, "x,:\\"]",
    {"k": -2e3}] },
  "d": null, "e": { "a": true }
}`;

test("returns the place of each value and each name", () => {
  const places = new JsonPlaces(TEXT);
  expect(places.value([])).toEqual({ line: 1, column: 1 });
  expect(places.name(["a"])).toEqual({ line: 2, column: 2 });
  expect(places.value(["a"])).toEqual({ line: 2, column: 7 });
  expect(places.value(["a", "b.c", 1])).toEqual({ line: 2, column: 20 });
  expect(places.value(["a", "b.c", 2, "k"])).toEqual({ line: 3, column: 11 });
  expect(places.value(["d"])).toEqual({ line: 4, column: 8 });
  expect(places.value(["e", "a"])).toEqual({ line: 4, column: 26 });
  expect(places.value(["a", "nothing"])).toBeUndefined();
  expect(places.repeated).toEqual([]);
});

test("returns names that occur twice in one object", () => {
  const { repeated } = new JsonPlaces('{"a": {"x": 1},\n "b": {"x": 1, "y": {}, "x": 2}, "\\u0061": 3}');
  expect(repeated).toEqual([
    { path: ["b", "x"], at: { line: 2, column: 25 } },
    { path: ["a"], at: { line: 2, column: 34 } },
  ]);
});

test("a byte order mark is passed over", () => {
  expect(parseJson('\uFEFF{"a":1}')).toMatchObject({ ok: true, value: { a: 1 } });
});

test("needs no longer for a text that is nested without end", () => {
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  expect(new JsonPlaces(deep).value([0, 0])).toEqual({ line: 1, column: 3 });
  expect(new JsonPlaces(deep).repeated).toEqual([]);
});

test.each([
  ['{"a": 1,}', 1, 9, 'the JSON is not valid at "}"'],
  ['{\n"a": nul}', 2, 9, 'the JSON is not valid at "}"'],
  ["{", 1, 2, "the JSON ends too early"],
])("%j breaks at line %i, column %i", (text, line, column, problem) => {
  expect(parseJson(text)).toEqual({ ok: false, at: { line, column }, problem });
});
