import { expect, it } from "vitest";
import { examplesFor } from "./examples-for.ts";

const FILES = ["src/", "README.md", "src/sum.ts", "two words.md"];

it("W63: three examples name files of the workspace; an empty workspace gets three examples without files", () => {
  expect(examplesFor(FILES, false)).toEqual([
    "What is this project about? Start with README.md",
    "Explain src/sum.ts, and what you would change",
    "Find the places that say TODO, and list them by how much they matter",
  ]);
  const alone = examplesFor([], false);
  expect(alone).toHaveLength(3);
  expect(alone.join()).not.toMatch(/README|src/);
});

it("W63: the demo gets examples in words that its rules know", () => {
  expect(examplesFor(FILES, true)).toEqual(["read README.md", "list the files in src", "search for TODO in src"]);
  expect(examplesFor([], true)).toEqual([
    "search for TODO in .",
    'create notes.txt with "buy milk"',
    "what can you do?",
  ]);
});
