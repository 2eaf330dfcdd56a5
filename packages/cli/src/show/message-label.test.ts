import type { Message } from "@banyan/core/conversation";
import { expect, test } from "vitest";
import { gist } from "./message-label.ts";

const said = (text: string) =>
  ({ id: "m", parentId: null, createdAt: 0, role: "user", author: "user", parts: [{ type: "text", text }] }) as Message;

test.each([
  ["## What it is for\n\nIt is **bold**.", "What it is for · It is bold."],
  ["# Only a title", "Only a title"],
  ["So:\n\n```ts:7:8\nconst a = 1;\n```\n\nThat is it.", "So: const a = 1; That is it."],
  ["| a | b |\n|---|:-:|\n| 1 | 2 |", "| a | b | | 1 | 2 |"],
  ["one\n\n---\n\ntwo - three", "one two - three"],
])("T28: the gist of %j has no marks that say little", (text, gistOf) => {
  expect(gist(said(text), 60)).toBe(gistOf);
});
