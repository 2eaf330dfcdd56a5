import { describe, expect, test } from "vitest";
import { styleFor } from "../show/style.ts";
import { choiceIn } from "./approvals.ts";
import { callArguments } from "./call-arguments.ts";

const plain = styleFor(process.stdout, "never");

describe("S14: a line is a choice only when it is one of those offered", () => {
  test.each(["", " ", "q", "yy", "yes please", "ok", "0", "12", "ny", "\x1b", "y\ny"])("%j is none", (line) => {
    expect(choiceIn(line, true)).toEqual({});
  });

  test("by letter, word or number", () => {
    expect(["y", " Y ", "yes", "1"].map((line) => choiceIn(line, true).choice)).toEqual(Array(4).fill("once"));
    expect([choiceIn("a", true), choiceIn("A", true)]).toEqual([{ choice: "conversation" }, { choice: "always" }]);
    expect([choiceIn("2", true), choiceIn("3", true)]).toEqual([{ choice: "conversation" }, { choice: "always" }]);
    expect(choiceIn("no", true)).toEqual({ choice: "deny" });
    expect(choiceIn("n: use npm test", true)).toEqual({ choice: "deny", reason: "use npm test" });
  });

  test("always is none where there is no rule for it", () => {
    expect(["a", "A", "2", "3"].map((line) => choiceIn(line, false))).toEqual([{}, {}, {}, {}]);
  });
});

describe("B23: the arguments that a person judges", () => {
  const shown = (input: object) => callArguments({ input: input as never, inputText: "" }, plain);

  test("are a command in full", () => {
    const command = `${"x".repeat(500)}\nrm -rf build`;
    expect(shown({ command, timeout: 5 })).toEqual(["x".repeat(500), "rm -rf build", "timeout: 5"]);
  });

  test("are a change as lines", () => {
    expect(shown({ path: "a.txt", old_text: "one\ntwo", new_text: "three\n" })).toEqual([
      "a.txt",
      "- one",
      "- two",
      "+ three",
    ]);
    expect(shown({ path: "a.txt", content: Array(50).fill("x").join("\n") }).at(-1)).toBe("+ … (10 more lines)");
  });

  test("are JSON otherwise, and the words of the model where they are none", () => {
    expect(shown({ url: "http://x" })).toEqual(["{", '  "url": "http://x"', "}"]);
    expect(callArguments({ inputText: "{nonsense" }, plain)).toEqual(["{nonsense"]);
  });

  test("S12: show what would hide", () => {
    expect(shown({ command: "rm -rf x\r\x1b[2Kls" })).toEqual(["rm -rf x\\u{d}\\u{1b}[2Kls"]);
  });
});
