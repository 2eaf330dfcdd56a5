import type { Follower } from "@banyan/core";
import { call, text } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { openWorkspace } from "../files/paths.ts";
import { call as execute, TestFolder } from "../test-folder.fixture.ts";
import { editModeTool } from "./edit-mode.ts";
import { arm, block, play } from "./play.fixture.ts";

const finish = (result: string) => call("finish_task", { result });

test("B32: blocks and finish_task in one message: the blocks are applied, and the task ends", async () => {
  using folder = new TestFolder({ "a.ts": "1\n" });
  const { said, asked } = await play(folder, [arm("a.ts"), [text(block("ts:1:2", "x")), finish("done")]], {
    mode: "task",
  });
  expect(said.join()).toMatch(/^All blocks were applied\./);
  expect(folder.read("a.ts")).toBe("x\n");
  expect(asked).toBe(2);
});

test.each([
  ["a block that fails", block("ts:5:9", "x"), /^No block was applied\./],
  ["a message in doubt", "```ts:1:2\nx\n", /^No block was applied, and nothing was written/],
  ["a fence that was meant as a block", block("ts", "x"), /^Your message had no block/],
])("B32: %s voids a finish_task of the same message", async (_, blocks, outcome) => {
  using folder = new TestFolder({ "a.ts": "1\n" });
  const { said, results, asked } = await play(
    folder,
    [arm("a.ts"), [text(blocks), finish("done")], [finish("given up")]],
    { mode: "task" },
  );
  expect(said.join()).toMatch(outcome);
  expect(results[1]).toMatch(/^The tool failed: Not finished:/);
  expect(asked).toBe(3);
  expect(folder.read("a.ts")).toBe("1\n");
});

test("B33: a file that was armed for nothing does not hold up the end of a task", async () => {
  using folder = new TestFolder({ "a.ts": "1\n" });
  const { asked } = await play(folder, [arm("a.ts"), [finish("needs no change")]], { mode: "task" });
  expect(asked).toBe(2);
});

test("B26: a call that is cancelled while it arms does not listen", async () => {
  using folder = new TestFolder({ "a.ts": "1\n" });
  const followers: Follower[] = [];
  const tool = editModeTool(openWorkspace(folder.root));
  const signal = AbortSignal.abort(new Error("the user interrupted"));
  const cancelled = execute(tool, { file_path: "a.ts" }, { signal, follow: (follower) => followers.push(follower) });
  await expect(cancelled).rejects.toThrow("the user interrupted");
  expect(followers).toEqual([]);
});
