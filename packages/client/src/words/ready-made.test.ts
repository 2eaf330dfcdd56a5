import { describe, expect, test } from "vitest";
import { findingsIn } from "./ready-made.ts";

describe("C15: findings", () => {
  test.each([
    ["- src/a.ts:12: it is lost", [{ place: "src/a.ts:12", text: "it is lost" }]],
    ["1. `src/a.ts:3-7` – unsafe", [{ place: "src/a.ts:3-7", text: "unsafe" }]],
    ["* **a.py:1**: twice\n\nNo more: done.", [{ place: "a.py:1", text: "twice" }]],
    ["See https://a.example:80: it says so.\n- Note: 12: nothing\nAt 10:30: tea", []],
  ])("%s", (text, found) => expect(findingsIn(text)).toEqual(found));
});
