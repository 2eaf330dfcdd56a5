import { Agent, defineTool, retry, Session, say } from "@banyan/core";
import type { FileChange } from "@banyan/core/conversation";
import { call, collect, scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { changedFiles, changedMode } from "./changed-files.ts";

/** A tool that reports the given changes: `a.txt 0 1` for a file that was created with the content 1. */
const changes = defineTool({
  name: "changes",
  description: "Reports changes.",
  input: { type: "object" },
  effects: "none",
  async execute(input, { changed }) {
    for (const change of (input as { of: readonly string[] }).of) await changed(read(change));
  },
});

function read(change: string): FileChange {
  const [path = "", from, to] = change.split(" ");
  const [before, after] = [from, to].map((digest) => (digest === "0" || digest === undefined ? null : digest));
  const kind = before === null ? "created" : after === null ? "deleted" : "changed";
  return { path, kind, before: before ?? null, after: after ?? null, added: 2, removed: 1, diff: `${from} to ${to}` };
}

async function said(session: Session, ...steps: readonly (readonly string[])[]): Promise<void> {
  const model = scriptedModel([...steps.map((of) => [call("changes", { of })]), "Done."]);
  await new Agent({ model, tools: [changes] }).send("Go", { session });
}

const short = (session: Session, leaf?: string) =>
  changedFiles(session.state, leaf).map(({ path, kind, before, after, changes }) => [
    path,
    kind,
    before,
    after,
    changes.length,
  ]);

test("changedFiles returns a conversation's changed files, from the first content to the last", async () => {
  const session = Session.inMemory();
  await said(session, ["a 1 2", "b 0 1"], ["a 2 3", "c 1 0", "d 1 2"], ["d 2 1", "e 0 1"], ["e 1 0"]);
  expect(short(session)).toEqual([
    ["a", "changed", "1", "3", 2],
    ["b", "created", null, "1", 1],
    ["c", "deleted", "1", null, 1],
  ]);
  const [a] = changedFiles(session.state);
  expect(a).toMatchObject({ added: 4, removed: 2 });
  expect(a?.changes.map(({ diff, call: by }) => [diff, by])).toEqual([
    ["1 to 2", "call_1"],
    ["2 to 3", "call_2"],
  ]);
});

test("changedFiles returns the changed files of one branch", async () => {
  const session = Session.inMemory();
  await said(session, ["a 1 2"]);
  const first = session.state.leaf ?? "";
  const model = scriptedModel([[call("changes", { of: ["a 2 3", "b 0 1"] })], "Done."]);
  const [question] = session.state.messages.keys();
  await collect(new Agent({ model, tools: [changes] }).chat(retry(question ?? ""), { session }));
  const second = session.state.leaf ?? "";
  expect(second).not.toBe(first);
  expect(short(session, first)).toEqual([["a", "changed", "1", "2", 1]]);
  expect(short(session, second)).toEqual([
    ["a", "changed", "2", "3", 1],
    ["b", "created", null, "1", 1],
  ]);
  expect(short(session)).toEqual([
    ["a", "changed", "1", "3", 2],
    ["b", "created", null, "1", 1],
  ]);
});

test("T29: changedFiles leaves out the part that a branch shares with another", async () => {
  const session = Session.inMemory();
  await said(session, ["a 1 2"]);
  const common = session.state.leaf ?? "";
  await said(session, ["a 2 3", "b 0 1"]);
  const leaf = session.state.leaf ?? "";
  const model = scriptedModel([[call("changes", { of: ["c 0 1"] })], "Done."]);
  await collect(new Agent({ model, tools: [changes] }).chat(say("Else"), { session, at: common }));
  const beside = session.state.leaf;
  const paths = (from: string | null, to: string | null) =>
    changedFiles(session.state, from ?? "", to).map(({ path, before }) => [path, before]);
  expect(paths(leaf, beside)).toEqual([
    ["a", "2"],
    ["b", null],
  ]);
  expect(paths(beside, leaf)).toEqual([["c", null]]);
  expect(paths(leaf, leaf)).toEqual([]);
  expect(paths(leaf, null)).toEqual([
    ["a", "1"],
    ["b", null],
  ]);
});

test("changedFiles orders parallel calls: a call precedes another that found its changes", async () => {
  const session = Session.inMemory();
  await said(session, ["a 1 2"], ["a 3 4", "a 2 3"], ["a 4 5"]);
  expect(changedFiles(session.state)[0]?.changes.map(({ diff }) => diff)).toEqual([
    "1 to 2",
    "2 to 3",
    "3 to 4",
    "4 to 5",
  ]);
});

test("changes of sub-agents belong to the branch that launched them", async () => {
  const session = Session.inMemory();
  const launches = defineTool({
    name: "launches",
    description: "Launches.",
    input: { type: "object" },
    effects: "none",
    execute: async (_, { launch }) => (await launch({ task: "Change b." })).text,
  });
  const model = scriptedModel([
    [call("changes", { of: ["a 0 1"] }), call("launches")],
    [call("changes", { of: ["b 0 1"] })],
    [call("finish_task", { result: "done" })],
    "Done.",
  ]);
  await collect(new Agent({ model, tools: [changes, launches] }).chat(say("Go"), { session }));
  expect(short(session, session.state.leaf ?? "")).toEqual([
    ["a", "created", null, "1", 1],
    ["b", "created", null, "1", 1],
  ]);
});

test("T66: a file that is again as it was is no changed file, even if only its restoration names a mode", () => {
  const made = { before: null, after: "x" };
  const removed = { before: "x", after: null, mode: { before: "100644", after: null } };
  const back = { before: null, after: "x", mode: { before: null, after: "100644" } };
  const changed = { before: "x", after: "x", mode: { before: "100644", after: "100755" } };
  expect(changedMode([made, removed])).toBeUndefined();
  expect(changedMode([{ before: "x", after: null }, back])).toBeUndefined();
  expect(changedMode([changed])).toEqual({ mode: changed.mode });
  expect(changedMode([removed])).toEqual({ mode: removed.mode });
});
