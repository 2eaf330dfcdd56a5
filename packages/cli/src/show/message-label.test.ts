import type { FeedItem, Message } from "@banyan/core/conversation";
import { expect, test } from "vitest";
import { gist, modelNoticeLines, ReportedEnds, shortenedLine, undoneLine, waitingLine } from "./message-label.ts";

const said = (text: string) =>
  ({ id: "m", parentId: null, createdAt: 0, role: "user", author: "user", parts: [{ type: "text", text }] }) as Message;

test.each([
  ["## What it is for\n\nIt is **bold**.", "What it is for · It is bold."],
  ["# Only a title", "Only a title"],
  ["So:\n\n```ts:7:8\nconst a = 1;\n```\n\nThat is it.", "So: const a = 1; That is it."],
  ["| a | b |\n|---|:-:|\n| 1 | 2 |", "| a | b | | 1 | 2 |"],
  ["one\n\n---\n\ntwo - three", "one two - three"],
])("T28: the gist of %j has no Markdown marks", (text, gistOf) => {
  expect(gist(said(text), 60)).toBe(gistOf);
});

test("transcript and tree show undone changes as Banyan's line, not as the model's message", () => {
  const text =
    "The person has taken back changes that were made to files. They are again as they were before:\n" +
    "- a.txt has its previous content again\n- b.txt is there again";
  const told = { ...said(text), author: "system" } as Message;
  const line = "a.txt has its previous content again, b.txt is there again; the agent is informed";
  expect([undoneLine(told), modelNoticeLines(told), gist(told, 100)]).toEqual([line, [line], `(${line})`]);
  // The same text by a user is an ordinary message.
  expect(undoneLine(said(text))).toBeUndefined();
});

test("C6: a user who has read a background command's end does not get the model's message about it", () => {
  const told = {
    ...said("p1 (npm run dev) has ended: exit code 1.\np2 (a (b) c) has ended: a user stopped it."),
    author: "system",
  };
  const ends = new ReportedEnds();
  const ended = (process: string) => ends.note({ type: "process.ended", process, outcome: "exit code 1" } as FeedItem);
  ended("p1");
  // The user has not read the end of the other command.
  expect(ends.has(told as Message)).toBe(false);
  ended("p2");
  expect(ends.has(told as Message)).toBe(true);
  // The same text by a user is shown, as is a longer system message.
  for (const other of [
    { ...told, author: "user" },
    { ...said("p1 is new."), author: "system" },
  ])
    expect(ends.has(other as Message)).toBe(false);
});

test("F77: each line of an unreadable message or input says that it is unreadable", () => {
  const unreadable = "parts[0].text must be a string, not a number.";
  const told = `This message cannot be read: ${unreadable}`;
  const message = { ...said(""), parts: [], unreadable } as Message;
  expect([gist(message, 100), modelNoticeLines(message)]).toEqual([`(${told})`, [told]]);
  expect(waitingLine({ parts: [], unreadable, delivery: "queue", held: false }, 100)).toBe(`queued: ${told}`);
});

test("F91: shortened results are one line; a summary of earlier messages is not", () => {
  const told = "Shortened 2 old results of calls for the model, which frees about 900 tokens.";
  const shortening = { ...said(told), role: "summary", shortened: [{ call: "c", text: "[Shortened]" }] } as Message;
  expect([shortenedLine(shortening), modelNoticeLines(shortening)]).toEqual([told, [told]]);
  expect(shortenedLine({ ...shortening, covers: "m" } as Message)).toBeUndefined();
  expect(shortenedLine(said(told))).toBeUndefined();
});
