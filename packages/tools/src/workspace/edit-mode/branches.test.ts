import { Agent, defineTool, pathTo, Session, textOf } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { workspaceTools } from "../index.ts";
import { TestFolder } from "../test-folder.fixture.ts";
import { arm, block, play } from "./play.fixture.ts";

const ENDED = "Edit mode has ended: before you write more blocks, call edit_mode again";

test("two branches that edit one file: each has its own blocks, and the later one gets a conflict", async () => {
  using folder = new TestFolder({ "a.ts": "1\n2\n" });
  const session = Session.inMemory();
  const talk = new Agent({ model: scriptedModel(() => "Hello.") });
  const { message: trunk } = await talk.send("Hi", { session });
  const { message: one } = await talk.send("One way", { session, at: trunk?.id ?? "" });
  const { message: other } = await talk.send("Another way", { session, at: trunk?.id ?? "" });
  const tools = workspaceTools({ root: folder.root });
  const bothArmed = Promise.withResolvers<void>();
  const firstApplied = Promise.withResolvers<void>();
  let armed = 0;
  const gate = defineTool({
    name: "gate",
    description: "Waits until both branches have armed the file.",
    input: { type: "object" },
    effects: "external",
    execute: () => {
      armed += 1;
      if (armed === 2) bothArmed.resolve();
      return bothArmed.promise;
    },
  });
  const branch = (name: string, at = "", before = Promise.resolve()) => {
    let step = 0;
    const scripted = scriptedModel([[...arm("a.ts"), call("gate")], block("ts:1:2", name), "Done."]);
    const stream: typeof scripted.stream = async (...request) => {
      step += 1;
      if (step === 2) await before;
      if (step === 3) firstApplied.resolve();
      return scripted.stream(...request);
    };
    const model = { ...scripted, stream };
    return new Agent({ model, tools: [...tools, gate] }).send("Go", { session, at });
  };
  const turns = await Promise.all([branch("first", one?.id), branch("second", other?.id, firstApplied.promise)]);
  const said = turns.map(({ message }) =>
    pathTo(session.state, message?.id ?? null)
      .filter((other) => other.role === "user" && other.author === "tool")
      .map(textOf),
  );
  expect(said).toEqual([
    [`All blocks were applied.\na.ts: 1 block applied; it has 2 lines now, and had 2.\n${ENDED}.`],
    [
      `No block was applied.\na.ts: nothing applied: a.ts was changed after the call of edit_mode; read it again first.\n${ENDED} for a.ts, and then send all blocks for it again.`,
    ],
  ]);
  expect(folder.read("a.ts")).toBe("first\n2\n");
  expect(session.state.following.size).toBe(0);
});

test("a sub-agent that edits the file that its parent has armed: the parent gets the conflict", async () => {
  using folder = new TestFolder({ "a.ts": "1\n" });
  const launches = defineTool({
    name: "launches",
    description: "Launches.",
    input: { type: "object" },
    effects: "external",
    execute: async (_, { launch }) => (await launch({ task: "Edit a.ts." })).text,
  });
  const { said, results } = await play(
    folder,
    [
      [...arm("a.ts"), call("launches")],
      arm("a.ts"),
      block("ts:1:2", "the child's"),
      [call("finish_task", { result: "edited" })],
      block("ts:1:2", "the parent's"),
      "Done.",
    ],
    { also: [launches] },
  );
  expect(results.at(-1)).toBe("edited");
  expect(said).toEqual([
    `No block was applied.\na.ts: nothing applied: a.ts was changed after the call of edit_mode; read it again first.\n${ENDED} for a.ts, and then send all blocks for it again.`,
  ]);
  expect(folder.read("a.ts")).toBe("the child's\n");
});
