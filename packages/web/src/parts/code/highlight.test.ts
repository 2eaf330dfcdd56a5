import { common } from "lowlight";
import { describe, expect, it } from "vitest";
import { highlight } from "./highlight.ts";
import { type CodeGrammar, GRAMMARS, grammarOf } from "./languages.ts";

const textOf = (code: string, grammar: CodeGrammar) =>
  highlight(code, grammar)
    .map(({ text }) => text)
    .join("");

describe("the colours of code", () => {
  it("name the kind of each piece, and leave the code unchanged", () => {
    const code = "const name = 'a' + \"b\"; // why\n";
    expect(textOf(code, "typescript")).toBe(code);
    const kinds = highlight(code, "typescript").map(({ text, kind }) => [text.trim(), kind]);
    expect(kinds).toContainEqual(["const", "keyword"]);
    expect(kinds).toContainEqual(['"b"', "string"]);
    expect(kinds).toContainEqual(["// why", "comment"]);
  });

  it("are found by names of languages, names of files, and file endings", () => {
    const names = ["TypeScript", "tsx", "py", "src/main.rs", "a.b/config.YML", "c++", "Makefile", "index.html"];
    expect(names.map(grammarOf)).toEqual([
      "typescript",
      "typescript",
      "python",
      "rust",
      "yaml",
      "cpp",
      "makefile",
      "xml",
    ]);
    expect(["", "txt", "nonsense", "a folder/", "constructor"].map(grammarOf)).toEqual(Array(5).fill(undefined));
    expect(Object.keys(GRAMMARS).filter((grammar) => !(grammar in common))).toEqual([]);
  });

  it("distinguish added from removed lines in a diff", () => {
    expect(highlight("+ new\n- old", "diff")).toEqual([
      { text: "+ new", kind: "good" },
      { text: "\n" },
      { text: "- old", kind: "bad" },
    ]);
  });

  it("are left out where the code is too long for the page", () => {
    const long = "const a = 1;\n".repeat(4_000);
    expect(highlight(long, "typescript")).toEqual([{ text: long }]);
  });

  it("do not end in a call stack, however deep the code is nested", () => {
    const deep = "`${".repeat(9_000);
    expect(textOf(deep, "typescript")).toBe(deep);
  });
});
