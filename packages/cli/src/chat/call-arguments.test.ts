import { describe, expect, test } from "vitest";
import { styleFor } from "../show/style.ts";
import { callArguments } from "./call-arguments.ts";

const plain = styleFor(process.stdout, "never");

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

  test("are values by their names otherwise, JSON where values have parts, and the words of the model where there are none", () => {
    expect(shown({ url: "http://x\n", depth: 2 })).toEqual(['url: "http://x\\n"', "depth: 2"]);
    expect(shown({ urls: ["a"] })).toEqual(["{", '  "urls": [', '    "a"', "  ]", "}"]);
    expect(shown({})).toEqual(["{}"]);
    expect(callArguments({ inputText: "{nonsense" }, plain)).toEqual(["{nonsense"]);
  });

  test("S12: show what would hide", () => {
    expect(shown({ command: "rm -rf x\r\x1b[2Kls" })).toEqual(["rm -rf x\\u{d}\\u{1b}[2Kls"]);
  });
});
