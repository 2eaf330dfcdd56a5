import { expect, test } from "vitest";
import { keysOf } from "./screen.ts";

test("a line is keys as a terminal sends them: characters, keys by name, with Ctrl, and what is pasted as one", () => {
  expect(keysOf("/a<Enter>")).toEqual(["/", "a", "\r"]);
  expect(keysOf("<Esc><C-u>é")).toEqual(["\x1b", "\x15", "é"]);
  expect(keysOf("<paste:/tmp/dot.png> ?")).toEqual(["\x1b[200~/tmp/dot.png\x1b[201~", " ", "?"]);
  expect(() => keysOf("<Nothing>")).toThrow("There is no key <Nothing>.");
});
