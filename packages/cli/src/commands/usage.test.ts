import { createId, Session } from "@banyan/core";
import { expect, test } from "vitest";
import { styleFor } from "../show/style.ts";
import { showUsage } from "./usage.ts";

test("B53: /usage says what its star is, where there is one", async () => {
  const session = Session.inMemory();
  const [asked, ...others] = [createId(), createId(), createId()];
  const said = {
    type: "message.added",
    role: "user",
    author: "user",
    parts: [{ type: "text", text: "hello" }],
  } as const;
  await session.commit([{ ...said, message: asked, parentId: null }]);
  for (const message of others) await session.commit([{ ...said, message, parentId: asked }]);
  const shownAt = async (leaf: string | null) => {
    const lines: string[] = [];
    const style = styleFor(process.stdout, "never");
    const context = {
      state: session.state,
      leaf,
      screen: { columns: 80, style },
      write: (...more: string[]) => lines.push(...more),
    };
    showUsage(context as never);
    return lines;
  };
  const there = await shownAt(others[1] ?? null);
  expect(there.map((line) => line.split(/ {2,}/)[0])).toEqual([
    "",
    "branch 1",
    "branch 2 *",
    "whole tree",
    "* marks your branch.",
  ]);
  expect((await shownAt(asked)).join("\n")).not.toContain("*");
});
