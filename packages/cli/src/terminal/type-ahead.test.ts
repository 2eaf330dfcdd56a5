import { expect, test } from "vitest";
import { TypeAhead } from "./type-ahead.ts";

function typed(...keys: readonly string[]): TypeAhead {
  const ahead = new TypeAhead();
  for (const key of keys) {
    const message = key.length > 1 ? ahead.key(undefined, { name: key }) : ahead.key(key, { name: key });
    if (message) ahead.keep(message.text);
  }
  return ahead;
}

test("what is typed ahead is whole messages and the beginning of one", () => {
  const ahead = typed("a", "x", "backspace", "b", "return", "return", "c");
  expect(ahead.takeMessage()).toBe("ab");
  expect(ahead.takeMessage()).toBeUndefined();
  expect(ahead.takeDraft()).toBe("c");
  expect(ahead.isEmpty).toBe(true);
});

test("a paste that is marked is one message", () => {
  const ahead = typed("paste-start", "a", "return", "b", "paste-end", "return");
  expect(ahead.takeMessage()).toBe("a\nb");
});

test("T18: Alt+Enter ends a message too, for later", () => {
  const ahead = typed("a");
  expect(ahead.key(undefined, { name: "return", meta: true })).toEqual({ text: "a", later: true });
  ahead.key("b", { name: "b" });
  expect(ahead.key(undefined, { name: "return" })).toEqual({ text: "b", later: false });
  expect(ahead.isEmpty).toBe(true);
});

test("B21: after a stop nothing is sent by itself; it waits in the draft", () => {
  const ahead = typed("a", "return", "b", "return", "c");
  ahead.hold();
  expect(ahead.takeMessage()).toBeUndefined();
  expect(ahead.takeDraft()).toBe("a\nb\nc");
});
