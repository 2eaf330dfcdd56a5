import { expect, test } from "vitest";
import { formatKey, parseKey, valueAt, withValueAt } from "./key.ts";

test.each([
  [["model"], "model"],
  [["limits", "steps"], "limits.steps"],
  [["permissions", "deny", 0], "permissions.deny[0]"],
  [["models", "ollama/qwen3"], "models.ollama/qwen3"],
  [["models", "ollama/qwen3.5", "contextSize"], 'models["ollama/qwen3.5"].contextSize'],
  [["keys", 'a"b c'], 'keys["a\\"b c"]'],
  [["aliases", ""], 'aliases[""]'],
])("%j is written as %s, and read back", (path, text) => {
  expect(formatKey(path)).toBe(text);
  expect(parseKey(text)).toEqual(path);
});

test.each(["", ".", "a.", "a..b", "a[", "a[b]", 'a["b]', " a", "a b", "[]"])("%j names nothing", (text) => {
  expect(parseKey(text)).toBeUndefined();
});

test("the path finds a value, and only the object's own values", () => {
  const settings = { limits: { steps: 5 }, permissions: { deny: ["a"] } };
  expect(valueAt(settings, ["limits", "steps"])).toBe(5);
  expect(valueAt(settings, ["permissions", "deny", 0])).toBe("a");
  expect(valueAt(settings, ["permissions", "deny", 1])).toBeUndefined();
  expect(valueAt(settings, ["limits", "toString"])).toBeUndefined();
  expect(valueAt(settings, ["model", "x"])).toBeUndefined();
});

test("a changed copy keeps the other values in their order, and leaves the original unchanged", () => {
  const before = { b: 1, limits: { steps: 5, cost: 1 }, list: ["x", "y"] };
  expect(JSON.stringify(withValueAt(before, ["limits", "steps"], 6))).toBe(
    '{"b":1,"limits":{"steps":6,"cost":1},"list":["x","y"]}',
  );
  expect(withValueAt(before, ["limits", "steps"], undefined)).toEqual({ b: 1, limits: { cost: 1 }, list: ["x", "y"] });
  expect(withValueAt(before, ["list", 0], undefined)).toEqual({ ...before, list: ["y"] });
  expect(withValueAt(before, ["list", 1], "z")).toEqual({ ...before, list: ["x", "z"] });
  expect(withValueAt({}, ["a", "b"], 1)).toEqual({ a: { b: 1 } });
  expect(before).toEqual({ b: 1, limits: { steps: 5, cost: 1 }, list: ["x", "y"] });
});

test("a name with a meaning in JavaScript is a plain name", () => {
  const changed = withValueAt({}, ["__proto__", "polluted"], true) as object;
  expect(Object.keys(changed)).toEqual(["__proto__"]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
