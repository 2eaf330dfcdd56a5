import { expect, test } from "vitest";
import { Batch } from "./batch.ts";

test("neighbours of one text are one part, and nothing else is", () => {
  const batch = new Batch();
  for (const piece of ["Fi", "g", "s"]) batch.text("text", piece);
  for (const piece of ["So", " what"]) batch.text("reasoning", piece);
  batch.text("text", "Roots");
  batch.add({ type: "part-end" });
  for (const piece of [" hang", " down"]) batch.text("text", piece);
  for (const piece of ['{"a"', ":", "1}"]) batch.callInput(0, piece);
  for (const piece of ["{", "}"]) batch.callInput(1, piece);
  expect(batch.take()).toEqual([
    { type: "text", text: "Figs" },
    { type: "reasoning", text: "So what" },
    { type: "text", text: "Roots" },
    { type: "part-end" },
    { type: "text", text: " hang down" },
    { type: "call-input", index: 0, text: '{"a":1}' },
    { type: "call-input", index: 1, text: "{}" },
  ]);
});

test("a taken batch does not grow any more", () => {
  const batch = new Batch();
  for (const piece of ["a", "b"]) batch.text("text", piece);
  const first = batch.take();
  for (const piece of ["c", "d"]) batch.text("text", piece);
  expect(batch.take()).toEqual([{ type: "text", text: "cd" }]);
  expect(first).toEqual([{ type: "text", text: "ab" }]);
  expect(batch.take()).toEqual([]);
});
