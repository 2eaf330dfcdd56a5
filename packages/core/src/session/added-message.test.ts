import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import type { FileChange } from "../conversation/message.ts";
import { textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { call, collect, readUntil, scriptedModel, stall, text } from "../testing/index.ts";
import { wait } from "./session.fixture.ts";
import { Session } from "./session.ts";

const lines = ({ state }: Session) => pathTo(state, state.leaf).map(textOf);

/** A conversation with one exchange, and its leaf. */
async function conversation() {
  const session = Session.inMemory();
  const agent = new Agent({ model: scriptedModel(() => "Done.") });
  await agent.send("Write", { session });
  return { session, agent, leaf: session.state.leaf ?? "" };
}

describe("H10: session.add", () => {
  test("adds a message without a turn, and the model gets it with the next message", async () => {
    const session = Session.inMemory();
    const model = scriptedModel(["Done.", "So it is."]);
    const agent = new Agent({ model });
    await agent.send("Write", { session });
    const id = await session.add("The tests failed.", { author: "system" });
    expect(session.state.messages.get(id)).toMatchObject({ author: "system", parts: [{ text: "The tests failed." }] });
    expect(session.state.runs.size).toBe(0);
    await agent.send("Go on", { session });
    expect(lines(session)).toEqual(["Write", "Done.", "The tests failed.", "Go on", "So it is."]);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("The tests failed.");
  });

  test("puts it below the named message, and at a root for null", async () => {
    const { session, leaf } = await conversation();
    const root = await session.add("Anew", { at: null, id: "mine" });
    expect(root).toBe("mine");
    expect(session.state.messages.get("mine")).toMatchObject({ parentId: null, author: "user" });
    const below = await session.add([{ type: "text", text: "Here" }], { at: leaf });
    expect(session.state.messages.get(below)?.parentId).toBe(leaf);
  });

  test("adds a message with a repeated id once", async () => {
    const { session } = await conversation();
    const before = session.state.messages.size;
    await session.add("Once", { id: "once" });
    expect(await session.add("Twice", { id: "once" })).toBe("once");
    expect(session.state.messages.size).toBe(before + 1);
    expect(lines(session).at(-1)).toBe("Once");
  });

  test.each([
    ["there is no message to stand below", "Said", { at: "nowhere" }, "no-message"],
    ["nothing is said", "  ", {}, "empty"],
    ["its id cannot be one", "Said", { id: "" }, "invalid-option"],
    ["nobody can be its author", "Said", { author: "tool" as "user" }, "invalid-option"],
  ])("is refused when %s, and nothing is written", async (_why, content, options, code) => {
    const { session } = await conversation();
    const { size } = session.state.messages;
    await expect(session.add(content, options)).rejects.toMatchObject({ name: "SessionError", code });
    expect(session.state.messages.size).toBe(size);
  });
});

describe("H10: session.hold", () => {
  test("makes turns that begin there wait, and continue from the new place", async () => {
    const { session, agent, leaf } = await conversation();
    const done = Promise.withResolvers<void>();
    const held = session.hold(leaf, async (branch) => {
      await done.promise;
      branch.moveTo(await session.add("Put back.", { at: leaf, author: "system" }));
      return "restored";
    });
    const turn = collect(agent.chat(say("Go on"), { session }));
    await new Promise(setImmediate);
    expect(session.state.runs.size).toBe(0);
    done.resolve();
    expect(await held).toBe("restored");
    await turn;
    expect(lines(session)).toEqual(["Write", "Done.", "Put back.", "Go on", "Done."]);
  });

  test("lets go of the branch when the work fails, and closing waits for the work", async () => {
    const { session, agent, leaf } = await conversation();
    await expect(session.hold(leaf, () => Promise.reject(new Error("No disk.")))).rejects.toThrow("No disk.");
    expect((await agent.send("Go on", { session })).text).toBe("Done.");
    const done = Promise.withResolvers<void>();
    const told: string[] = [];
    const held = session.hold(session.state.leaf, async () => {
      await done.promise;
      told.push(await session.add("Put back."));
    });
    const closed = session.close().then(() => told.push("closed"));
    await new Promise(setImmediate);
    expect(told).toEqual([]);
    done.resolve();
    await Promise.all([held, closed]);
    expect(told).toEqual([session.state.leaf, "closed"]);
    await expect(session.hold(leaf, () => {})).rejects.toMatchObject({ code: "closed" });
  });

  test("is refused before its work begins during a turn there, or while another caller holds the branch", async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel([[text("Well"), stall()]]) });
    const feed = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "text.delta");
    const [live] = session.state.runs.values();
    const worked: string[] = [];
    const work = () => void worked.push("at work");
    await expect(session.hold(live?.leaf ?? null, work)).rejects.toMatchObject({ name: "SessionError", code: "busy" });
    await expect(session.hold("nowhere", work)).rejects.toMatchObject({ code: "no-message" });
    expect(worked).toEqual([]);
    await feed.return?.();
    const both = [session.hold(session.state.leaf, work), session.hold(session.state.leaf, work)];
    const [first, second] = await Promise.allSettled(both);
    expect([first?.status, second]).toMatchObject(["fulfilled", { reason: { code: "busy" } }]);
  });

  test("is no run: an interrupt does not stop it, and it refuses an unknown message", async () => {
    const { session, leaf } = await conversation();
    await session.hold(leaf, (held) => {
      expect(session.interrupt()).toBe(0);
      expect(() => held.moveTo("nowhere")).toThrow("There is no message nowhere");
    });
  });
});

describe("H10: session.notes.fileChange and session.notes.usage", () => {
  const change: FileChange = {
    path: "notes.md",
    kind: "deleted",
    before: "abc",
    after: null,
    added: 0,
    removed: 3,
    diff: "",
  };

  /** A conversation with a tool call, and the id of the call. */
  async function afterCall() {
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel([[call("wait")], "Done."]), tools: [wait] });
    const turn = agent.send("Go", { session });
    const feed = session.feed();
    await readUntil(feed, ({ type }) => type === "call.executing");
    session.interrupt();
    await turn;
    const [id = ""] = session.state.calls.keys();
    return { session, id };
  }

  test("stores a file's change with its call, and watchers see it", async () => {
    const { session, id } = await afterCall();
    const feed = session.feed();
    await session.notes.fileChange(id, change);
    const message = session.state.messages.get(session.state.calls.get(id) ?? "");
    expect(message?.role === "assistant" && message.calls[0]?.changes).toEqual([change]);
    const { value: seen } = await feed.next();
    expect(seen).toMatchObject({ type: "file.changed", call: id, path: "notes.md" });
  });

  test.each([
    ["no path", { path: "" }],
    ["a kind that is none", { kind: "moved" as "changed" }],
    ["a content that is no name", { before: 1 as unknown as string }],
    ["lines that cannot be counted", { added: -1 }],
    ["a difference that is no text", { diff: undefined as unknown as string }],
  ])("a change with %s is refused", async (_what, wrong) => {
    const { session, id } = await afterCall();
    const noted = session.notes.fileChange(id, { ...change, ...wrong });
    await expect(noted).rejects.toMatchObject({ name: "SessionError", code: "invalid-option" });
    await expect(session.notes.fileChange("nowhere", change)).rejects.toMatchObject({ code: "no-call" });
  });

  test("adds a model's cost outside turns to the sums; an unknown cost makes the sum unknown", async () => {
    const { session } = await conversation();
    const { usage: before, cost } = session.state;
    const usage = { input: 10, cached: 0, cacheWrite: 0, output: -5, reasoning: 0 };
    await session.notes.usage({ purpose: "title", model: "a/b", usage, cost: 0.5 });
    expect(session.state.usage).toMatchObject({ input: before.input + 10, output: before.output });
    expect(session.state.cost).toBe(cost === undefined ? undefined : cost + 0.5);
    await session.notes.usage({ purpose: "title", model: "a/b", usage });
    expect(session.state.cost).toBeUndefined();
    const wrong = session.notes.usage({ purpose: "title", model: "a/b", usage, cost: Number.NaN });
    await expect(wrong).rejects.toMatchObject({ code: "invalid-option" });
  });
});
