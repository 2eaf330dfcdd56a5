import { createId, Session } from "@banyan/core";
import { snapshotOf, snapshot as snapshotSchema } from "@banyan/protocol";
import { describe, expect, test } from "vitest";
import { Mirror } from "./mirror.ts";

describe("the mirror of a conversation", () => {
  test("holds what the snapshot of a conversation with everything in it says", async () => {
    const session = Session.inMemory({ labels: { cwd: "/here" } });
    const [question, answer, sub, run, subRun] = Array.from({ length: 5 }, () => createId()) as [
      string,
      string,
      string,
      string,
      string,
    ];
    const usage = { input: 5, cached: 1, cacheWrite: 2, output: 3, reasoning: 1 };
    await session.commit([
      {
        type: "message.added",
        message: question,
        parentId: null,
        role: "user",
        author: "user",
        parts: [{ type: "text", text: "  Do\n\tthis  " }],
      },
      {
        type: "run.started",
        run,
        agent: "banyan",
        model: "a/b",
        settings: {},
        limits: {},
        mode: "task",
        instructions: "",
        tools: "",
        leaf: question,
      },
      { type: "message.started", message: answer, parentId: question, run, model: "a/b" },
      {
        type: "message.completed",
        message: answer,
        parts: [
          { type: "call", call: "c1" },
          { type: "call", call: "c2" },
        ],
        finish: "calls",
        usage,
        cost: 0.5,
      },
      { type: "call.pending", message: answer, call: "c1", tool: "launch_agent", inputText: "{}", input: {} },
      { type: "call.pending", message: answer, call: "c2", tool: "shell", inputText: "{}", input: {} },
      { type: "call.failed", message: answer, call: "c2", output: "no" },
      {
        type: "message.added",
        message: sub,
        parentId: null,
        role: "user",
        author: "tool",
        call: "c1",
        parts: [{ type: "text", text: "a task" }],
      },
      {
        type: "run.started",
        run: subRun,
        agent: "sub",
        model: "a/b",
        settings: {},
        limits: {},
        mode: "task",
        instructions: "",
        tools: "",
        leaf: sub,
        call: "c1",
      },
      { type: "call.approval-requested", message: answer, call: "c1", question: createId(), pattern: "x" },
      { type: "input.queued", input: createId(), parts: [{ type: "text", text: "later" }], delivery: "queue", run },
      { type: "message.labelled", message: answer, label: "the answer" },
      { type: "message.starred", message: answer, starred: true },
      { type: "memory.dismissed", message: question, item: 0, dismissed: true },
      { type: "message.removed", message: sub },
      { type: "title.changed", title: "Everything" },
    ]);
    const { state, cursor } = session;
    const sent = JSON.parse(JSON.stringify(snapshotOf(state, { cursor })));
    expect(sent.nodes).toMatchObject([
      { id: question, words: "Do this" },
      {
        id: answer,
        parent: 0,
        calls: 2,
        open: 1,
        failed: 1,
        label: "the answer",
        starred: true,
        cost: 0.5,
        usage: [5, 1, 2, 3, 1],
      },
      { id: sub, call: "c1", author: "tool", removed: true },
    ]);
    // As a client receives it that checks each frame.
    const mirror = new Mirror(snapshotSchema.parse(sent));
    expect(mirror.unread([question, answer, sub])).toEqual([sub]);
    expect(mirror.cursor).toEqual(cursor);
    mirror.fill(JSON.parse(JSON.stringify([...state.messages.values()])));
    // Earlier servers omit fields with a default, and few clients check each frame.
    for (const name of Object.keys(sent)) {
      const { [name]: _, ...earlier } = sent;
      const checked = snapshotSchema.safeParse(earlier);
      if (checked.success) expect(new Mirror(earlier).state, name).toEqual(new Mirror(checked.data).state);
    }
    const { contents: _, ...expected } = state;
    expect({ ...mirror.state, contents: undefined }).toEqual({ ...expected, contents: undefined });
    expect(JSON.parse(JSON.stringify(mirror.state))).toEqual(JSON.parse(JSON.stringify(state)));
  });
});
