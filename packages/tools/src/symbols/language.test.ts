import { expect, test } from "vitest";
import { fileLanguage, type SymbolError } from "./language.ts";

test.each([
  ["src/a.ts", "typescript"],
  ["a.test.mts", "typescript"],
  ["Page.tsx", "tsx"],
  ["a.cjs", "javascript"],
  ["Page.JSX", "javascript"],
  ["lib/a.py", "python"],
  ["types.pyi", "python"],
  ["main.go", "go"],
  ["src\\lib.rs", "rust"],
])("B27: %s is a file in %s", (path, language) => {
  expect(fileLanguage(path)).toBe(language);
});

test("B27: the tag of a fence counts if the path reveals no language", () => {
  expect(fileLanguage("bin/run", "Python")).toBe("python");
  expect(fileLanguage("BUILD.in/run", "go")).toBe("go");
  expect(fileLanguage("a.ts", "python")).toBe("typescript");
});

test("B27: a language without a grammar is refused in one sentence", () => {
  const refusal = expect.objectContaining<Partial<SymbolError>>({
    code: "language",
    message:
      "Symbols cannot be found in lib/a.rb, only in TypeScript, JavaScript, Python, Go and Rust; use line numbers instead.",
  });
  expect(() => fileLanguage("lib/a.rb", "ruby")).toThrow(refusal);
  expect(() => fileLanguage("Makefile")).toThrow(/in Makefile/);
  expect(() => fileLanguage("src/constructor", "toString")).toThrow(/in src\/constructor/);
});
