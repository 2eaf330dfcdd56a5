import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import type { Event } from "../conversation/event.ts";
import { isEvent } from "../conversation/feed-item.ts";
import type { AssistantMessage, Message } from "../conversation/message.ts";
import { textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool, ToolContext } from "../ports/tool.ts";
import type { Follower } from "../ports/tool-values.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect, readUntil } from "../testing/collect.ts";
import {
  call,
  cut,
  end,
  fail,
  parts,
  pause,
  reasoning,
  type Script,
  scriptedModel,
  stall,
  text,
} from "../testing/scripted-model.ts";

const ANY = { type: "object" } as const;

/** A tool whose calls follow the model, and record its text and the outcome. */
function listener(make: (context: ToolContext) => Follower = () => ({})) {
  const heard: string[] = [];
  const tool = defineTool({
    name: "listen",
    description: "Listens.",
    input: ANY,
    effects: "none",
    execute(_: unknown, context) {
      const own = make(context);
      context.follow({
        ...own,
        text(delta, kind) {
          heard.push(`${context.call} ${kind} ${delta}`);
          own.text?.(delta, kind);
        },
        async completed(message) {
          heard.push(`${context.call} completed`);
          return own.completed?.(message);
        },
        dropped(reason) {
          heard.push(`${context.call} dropped: ${reason}`);
          return own.dropped?.(reason);
        },
      });
      return "Listening.";
    },
  });
  return { tool, heard };
}

const act = defineTool({
  name: "act",
  description: "Acts.",
  input: ANY,
  effects: "none",
  execute: () => "done",
});

async function play(script: Script, tools: readonly Tool[], options: { retry?: object; limits?: object } = {}) {
  const session = Session.inMemory();
  const model = scriptedModel(script);
  const agent = new Agent({ model, tools, retry: { delay: 1 }, ...options });
  const items = await collect(agent.chat(say("Go"), { session }));
  const events = items.filter(isEvent);
  return { session, model, events, path: pathTo(session.state, session.state.leaf) };
}

/** The path in short: speakers and texts. */
function told(path: readonly Message[]): string[] {
  return path.map((message) => `${message.role === "user" ? message.author : "model"}: ${textOf(message)}`);
}

const followed = (events: readonly Event[]) => events.filter((event) => event.type === "call.followed");

describe("a call that listens", () => {
  test("B25: hears the next message from its first word to its end, in the order of the stream, and not its own", async () => {
    const { tool, heard } = listener();
    const { session, events } = await play(
      [[text("I begin."), call("listen")], [reasoning("hm"), text("one ", "two"), call("act")], "bye"],
      [tool, act],
    );
    expect(heard).toEqual(["call_1 reasoning hm", "call_1 text one ", "call_1 text two", "call_1 completed"]);
    expect(followed(events)).toMatchObject([{ call: "call_1", outcome: "completed" }]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("hears text before any client sees it", async () => {
    const order: string[] = [];
    const { tool } = listener(() => ({ text: (delta) => void order.push(`tool ${delta}`) }));
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel([[call("listen")], [text("a"), text("b")]]), tools: [tool] });
    for await (const item of agent.chat(say("Go"), { session })) {
      if (item.type === "text.delta") order.push(`client ${item.text}`);
    }
    expect(order.indexOf("tool a")).toBeLessThan(order.indexOf("client a"));
    expect(order.indexOf("tool b")).toBeLessThan(order.indexOf("client b"));
    expect(order).toHaveLength(4);
  });

  test("B32: adds a message to the model in one more call, and the turn continues", async () => {
    const { tool } = listener(() => ({ completed: () => ({ say: "All applied." }) }));
    const { path, model } = await play([[call("listen")], "the blocks", "well done"], [tool]);
    expect(told(path)).toEqual(["user: Go", "model: ", "model: the blocks", "tool: All applied.", "model: well done"]);
    expect(model.asked).toBe(3);
  });

  test("B32: finishes its message before the other calls of that message run, and one model call follows", async () => {
    const order: string[] = [];
    const { tool } = listener(() => ({
      async completed() {
        await pauseFor(5);
        order.push("applied");
        return { say: "All applied." };
      },
    }));
    const look = { ...act, name: "look", execute: () => void order.push("looked") } as Tool;
    const { path, model } = await play([[call("listen")], [text("blocks"), call("look")], "fine"], [tool, look]);
    expect(order).toEqual(["applied", "looked"]);
    expect(told(path).slice(2)).toEqual(["model: blocks", "tool: All applied.", "model: fine"]);
    expect(model.asked).toBe(3);
    const last = model.requests[2]?.messages ?? [];
    expect(last.at(-2)).toMatchObject({ role: "assistant", results: [{ tool: "look" }] });
    expect(last.at(-1)).toMatchObject({ role: "user", parts: [{ text: "All applied." }] });
  });

  test("B26: listens together with others, and their messages form one in the order of their beginnings", async () => {
    const { tool, heard } = listener(({ call: id }) => ({ completed: () => ({ say: `${id} is done.` }) }));
    const { session } = await play([[call("listen"), call("listen")], "text", "bye"], [tool]);
    expect(heard.filter((line) => line.endsWith("completed"))).toEqual(["call_1 completed", "call_2 completed"]);
    const outcome = [...session.state.messages.values()].find(
      (message) => message.role === "user" && message.author === "tool",
    );
    expect(outcome?.parts).toEqual([
      { type: "text", text: "call_1 is done." },
      { type: "text", text: "call_2 is done." },
    ]);
  });

  test("B26: a hundred listen at once, and none is left", async () => {
    const { tool, heard } = listener();
    const { session } = await play([Array.from({ length: 100 }, () => call("listen")), "text"], [tool]);
    expect(heard.filter((line) => line.endsWith(" text text"))).toHaveLength(100);
    expect(session.state.following.size).toBe(0);
  });

  test("B26: listening again takes the place of the first follower of the call", async () => {
    const heard: string[] = [];
    const tool = defineTool({
      ...listener().tool,
      input: ANY,
      execute(_: unknown, context) {
        context.follow({ text: () => void heard.push("first"), dropped: () => void heard.push("first dropped") });
        context.follow({ text: () => void heard.push("second") });
      },
    });
    await play([[call("listen")], "text"], [tool]);
    expect(heard).toEqual(["second"]);
  });

  test("asks for the next message too, and is dropped when the turn ends", async () => {
    const { tool, heard } = listener(() => ({ completed: () => ({ again: true }) }));
    const { events, session } = await play([[call("listen")], [text("a"), call("act")], "b"], [tool, act]);
    expect(heard).toEqual([
      "call_1 text a",
      "call_1 completed",
      "call_1 text b",
      "call_1 completed",
      "call_1 dropped: the turn ended",
    ]);
    expect(followed(events)).toMatchObject([{ outcome: "dropped", reason: "the turn ended" }]);
    expect(session.state.following.size).toBe(0);
  });

  test("B35: no content reaches a call that does not listen or was denied", async () => {
    const { tool, heard } = listener();
    const session = Session.inMemory();
    const agent = new Agent({
      model: scriptedModel([[call("listen")], "text"]),
      tools: [tool],
      permission: () => ({ decision: "deny", reason: "no" }),
    });
    await agent.send("Go", { session });
    expect(heard).toEqual([]);
  });
});

describe("the end of listening without a whole message", () => {
  test.each<[string, Script, string]>([
    ["an error", [[call("listen")], [text("half"), fail("quota")]], "the answer broke off: scripted: quota"],
    [
      "the output limit",
      [[call("listen")], [text("half"), end("length")], "bye"],
      "your message was cut off by the output limit",
    ],
    [
      "the provider's filter",
      [[call("listen")], [text("half"), end("filtered")], "bye"],
      "your message was cut off by the provider's content filter",
    ],
  ])("B33: %s drops the follower, and the model learns so", async (_, script, reason) => {
    const { tool, heard } = listener(() => ({ dropped: (why) => `Nothing was written: ${why}.` }));
    const { session, path } = await play(script, [tool]);
    expect(heard).toEqual(["call_1 text half", `call_1 dropped: ${reason}`]);
    expect(told(path)).toContain(`tool: Nothing was written: ${reason}.`);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("B33, F21: an interrupt drops it in the middle of the message, which is kept, and the next message is not swallowed", async () => {
    const { tool, heard } = listener(() => ({ dropped: () => "Nothing was written." }));
    const session = Session.inMemory();
    const model = scriptedModel([[call("listen")], [text("half"), stall()], "bye"]);
    const agent = new Agent({ model, tools: [tool] });
    const chat = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "text.delta");
    session.interrupt();
    await readUntil(chat, (item) => item.type === "chat.ended");
    await agent.send("And now?", { session });
    expect(heard).toEqual(["call_1 text half", "call_1 dropped: interrupted by the user"]);
    expect(told(pathTo(session.state, session.state.leaf)).slice(2)).toEqual([
      "model: half",
      "tool: Nothing was written.",
      "user: And now?",
      "model: bye",
    ]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("a limit drops it before the last word", async () => {
    const { tool, heard } = listener();
    const { events } = await play([[call("listen")], "my last word"], [tool], { limits: { steps: 1 } });
    expect(heard).toEqual(["call_1 dropped: the turn reached the limit of 1 step"]);
    expect(followed(events)).toHaveLength(1);
  });

  test("a retry of a broken answer restarts the follower with the new answer", async () => {
    const heard: string[] = [];
    const { tool } = listener(() => ({
      text: (delta) => void heard.push(delta),
      restarted: () => void heard.push("again"),
      completed: (message: AssistantMessage) => void heard.push(textOf(message)),
    }));
    const { session } = await play([[call("listen")], [text("wro"), cut()], [text("right")]], [tool]);
    expect(heard).toEqual(["wro", "again", "right", "right"]);
    expect(session.state.following.size).toBe(0);
  });
});

describe("a failing follower", () => {
  test("in the middle of the text loses only itself, and the model learns once", async () => {
    const calls: string[] = [];
    const bad = listener(() => ({
      text: () => {
        throw new Error("out of ink");
      },
    }));
    const good = listener(() => ({ completed: () => void calls.push("good") }));
    const other = { ...good.tool, name: "other" };
    const { path, session, events } = await play(
      [[call("listen"), call("other")], [text("a"), text("b")], "bye"],
      [bad.tool, other],
    );
    expect(bad.heard).toEqual(["call_1 text a", "call_1 dropped: out of ink"]);
    expect(good.heard).toEqual(["call_2 text a", "call_2 text b", "call_2 completed"]);
    expect(calls).toEqual(["good"]);
    expect(told(path)).toContain(
      "tool: listen followed your message and failed: out of ink. The tool may not have acted on the message.",
    );
    expect(followed(events)).toMatchObject([
      { call: "call_1", outcome: "dropped", reason: "out of ink" },
      { call: "call_2", outcome: "completed" },
    ]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("at the end of the message is reported with its error", async () => {
    const { tool } = listener(() => ({
      completed: () => Promise.reject(new Error("no space")),
    }));
    const { path, session } = await play([[call("listen")], "text", "bye"], [tool]);
    expect(told(path)).toContain(
      "tool: listen followed your message and failed: no space. The tool may not have acted on the message.",
    );
    expect(session.state.following.size).toBe(0);
  });

  test("that hangs delays an interrupt for three seconds at most", async () => {
    const { tool } = listener(() => ({ completed: () => new Promise<undefined>(() => {}) }));
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel([[call("listen")], "text"]), tools: [tool] });
    const chat = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "message.completed" && item.finish === "stop");
    session.interrupt();
    await readUntil(chat, (item) => item.type === "chat.ended");
    expect(session.state.following.size).toBe(0);
  });
});

describe("drafts and changes of a call", () => {
  test("B30: a draft grows in the feed and in the state, and is gone when listening ends", async () => {
    const { tool } = listener((context) => ({
      text: (delta) => context.draft({ index: 0, path: "a.ts", start: 2, end: 4, text: delta }),
    }));
    const session = Session.inMemory();
    const agent = new Agent({
      model: scriptedModel([[call("listen")], [text("x"), pause(1), text("y")]]),
      tools: [tool],
    });
    const seen: unknown[] = [];
    for await (const item of agent.chat(say("Go"), { session })) {
      if (item.type === "call.draft.delta") seen.push(session.state.messages.get(item.message));
      if (item.type === "call.draft.delta" && seen.length === 2) {
        const message = session.state.messages.get(item.message) as AssistantMessage;
        expect(message.calls[0]?.drafts).toEqual([{ index: 0, path: "a.ts", start: 2, end: 4, text: "xy" }]);
      }
    }
    expect(seen).toHaveLength(2);
    const [answer] = [...session.state.messages.values()].filter(
      ({ role }) => role === "assistant",
    ) as AssistantMessage[];
    expect(answer?.calls[0]?.drafts).toBeUndefined();
  });

  test("a changed file is a fact of the log, also after the call has its result", async () => {
    const change = {
      path: "a.ts",
      kind: "created",
      before: null,
      after: "0f",
      added: 1,
      removed: 0,
      diff: "+x",
    } as const;
    const { tool } = listener((context) => ({ completed: async () => void (await context.changed(change)) }));
    const { session, events } = await play([[call("listen")], "text"], [tool]);
    expect(events.filter(({ type }) => type === "file.changed")).toHaveLength(1);
    const [answer] = [...session.state.messages.values()].filter(
      ({ role }) => role === "assistant",
    ) as AssistantMessage[];
    expect(answer?.calls[0]?.changes).toEqual([change]);
  });
});

test("a provider's parts of other kinds are not heard", async () => {
  const { tool, heard } = listener();
  await play([[call("listen")], [parts({ type: "source", url: "https://a.example" }), text("a")]], [tool]);
  expect(heard).toEqual(["call_1 text a", "call_1 completed"]);
});

function pauseFor(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
