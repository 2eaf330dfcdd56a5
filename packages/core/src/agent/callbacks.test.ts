import { expect, test } from "vitest";
import type { FeedItem } from "../conversation/feed-item.ts";
import { defineTool } from "../ports/define-tool.ts";
import { Session } from "../session/session.ts";
import { collect } from "../testing/collect.ts";
import { call, rawCall, scriptedModel } from "../testing/scripted-model.ts";
import { Agent } from "./agent.ts";
import { say } from "./directive.ts";

const done: string[] = [];
const act = defineTool({
  name: "act",
  description: "Acts.",
  input: { type: "object" },
  effects: "external",
  execute: () => void done.push("act ran"),
});

test.each([false, true])("B71: onCalls hears calls pending, as they were asked for (awaited: %s)", async (awaited) => {
  const heard: unknown[] = [];
  const agent = new Agent({
    model: scriptedModel([[call("act", { a: 1 }), rawCall("act", "{"), call("nil")], "ok"]),
    tools: [act],
    permission: () => ({ decision: "deny", reason: "no" }),
    callbacks: {
      awaited,
      onCalls: (calls, message) =>
        heard.push(
          calls,
          message.calls.map(({ status }) => status),
        ),
    },
  });
  await agent.send("go");
  expect(heard).toMatchObject([
    [
      { tool: "act", input: { a: 1 }, status: "pending", attempt: 0 },
      { tool: "act", inputText: "{", status: "pending" },
      { tool: "nil", status: "pending" },
    ],
    ["pending", "pending", "pending"],
  ]);
});

test("B71: awaited callbacks finish before the next call starts", async () => {
  done.length = 0;
  const slowly = (what: string) => async () => {
    await new Promise(setImmediate);
    done.push(what);
  };
  const callbacks = {
    onMessage: slowly("message"),
    onCalls: slowly("calls"),
    onCall: slowly("call"),
    onAnswer: slowly("answer"),
  };
  const model = () => scriptedModel([[call("act")], "ok"]);
  await new Agent({ model: model(), tools: [act], callbacks: { ...callbacks, awaited: true } }).send("go");
  expect(done).toEqual(["message", "calls", "act ran", "call", "message", "answer"]);
  done.length = 0;
  const never = { onMessage: () => new Promise(() => {}), onCalls: () => new Promise(() => {}) };
  await new Agent({ model: model(), tools: [act], callbacks: never }).send("go");
  expect(done).toEqual(["act ran"]);
});

test("B71: an interrupt ends the wait for a callback that never ends", async () => {
  const session = Session.inMemory();
  const callbacks = {
    awaited: true,
    onCalls() {
      session.interrupt();
      return new Promise(() => {});
    },
  };
  const agent = new Agent({ model: scriptedModel([[call("act")], "ok"]), tools: [act], callbacks });
  expect(await agent.send("go", { session })).toMatchObject({ reason: "interrupted" });
});

test("B71: a callback that throws or rejects is reported once in a turn, and harms nothing", async () => {
  const callbacks = {
    onMessage() {
      throw new Error("broken");
    },
    onCall: async () => Promise.reject(new Error("rejected")),
  };
  for (const awaited of [false, true]) {
    const model = scriptedModel([[call("act"), call("act")], [call("act")], "ok"]);
    const items: FeedItem[] = await collect(
      new Agent({ model, tools: [act], callbacks: { ...callbacks, awaited } }).chat(say("go")),
    );
    expect(items.filter((item) => item.type === "callback.failed")).toEqual([
      { type: "callback.failed", callback: "onMessage", reason: "broken" },
      { type: "callback.failed", callback: "onCall", reason: "rejected" },
    ]);
    expect(items.at(-1)).toMatchObject({ reason: "answered" });
  }
});

test.each([
  [2, 2],
  [undefined, 10],
])("B75: with callsAtOnce %s, %s calls of an answer run at once", async (callsAtOnce, most) => {
  let running = 0;
  let seen = 0;
  const look = defineTool({
    name: "look",
    description: "Looks.",
    effects: "none",
    input: { type: "object" },
    async execute() {
      seen = Math.max(seen, ++running);
      await new Promise(setImmediate);
      running--;
    },
  });
  const model = scriptedModel([Array.from({ length: 12 }, (_, n) => call("look", { n })), "ok"]);
  await new Agent({ model, tools: [look], callsAtOnce }).send("go");
  expect(seen).toBe(most);
});

test.each([0, 1.5, Number.NaN])("B75: callsAtOnce of %s is refused", async (callsAtOnce) => {
  const agent = new Agent({ model: scriptedModel(["ok"]), callsAtOnce });
  await expect(agent.send("go")).rejects.toThrow(/callsAtOnce is .*positive whole number/);
});
