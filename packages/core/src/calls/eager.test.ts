import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import { isEvent } from "../conversation/feed-item.ts";
import { type AssistantMessage, textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import type { Tool } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect } from "../testing/collect.ts";
import { type Beat, call, cut, end, type Script, scriptedModel, text } from "../testing/scripted-model.ts";

/** A tool that records the model's text at the begin of each call. */
function looking(begun: string[], session: Session, more: Partial<Tool> = {}): Tool {
  return {
    name: "look",
    description: "Looks.",
    input: { type: "object" },
    effects: "none",
    eager: true,
    execute: (_, context) => {
      const ended = [...session.state.messages.values()].some((m) => m.role === "assistant" && m.finish !== undefined);
      begun.push(`${context.call} ${ended ? "after" : "before"} the end`);
      context.progress("seen ");
      return `${context.call} found`;
    },
    ...more,
  };
}

/** Lets calls begin that may begin. */
const breathe = (): Beat => ({ type: "pause", milliseconds: 5 });

async function play(
  script: Script,
  more: Partial<Tool> = {},
  others: readonly Tool[] = [],
  permission?: Agent["options"]["permission"],
) {
  const session = Session.inMemory();
  const begun: string[] = [];
  const agent = new Agent({
    model: scriptedModel(script),
    tools: [looking(begun, session, more), ...others],
    retry: { delay: 1 },
    ...(permission ? { permission } : {}),
  });
  const items = await collect(agent.chat(say("Go"), { session }));
  const answers = [...session.state.messages.values()].filter((m): m is AssistantMessage => m.role === "assistant");
  expect(checkConversation(session.state)).toEqual([]);
  return { begun, events: items.filter(isEvent), calls: answers.flatMap(({ calls }) => calls) };
}

describe("B62: an eager call", () => {
  test("begins while its message streams, runs once, and has its result in the usual place", async () => {
    const { begun, events, calls } = await play([[call("look"), breathe(), text("and so on")], "bye"]);
    expect(begun).toEqual(["call_1 before the end"]);
    expect(calls.map(({ output, status, attempt }) => [output, status, attempt])).toEqual([
      ["call_1 found", "completed", 1],
    ]);
    const types = events.map(({ type }) => type);
    expect(types.indexOf("call.executing")).toBeGreaterThan(types.indexOf("message.completed"));
  });

  test("does not begin after a call with effects", async () => {
    const act: Tool = {
      name: "act",
      description: "Acts.",
      input: { type: "object" },
      effects: "external",
      execute: () => "done",
    };
    const { begun } = await play([[call("look"), call("act"), call("look"), breathe()], "bye"], {}, [act]);
    expect(begun).toEqual(["call_1 before the end", "call_3 after the end"]);
  });

  test("does not begin before a user's approval, nor with invalid arguments", async () => {
    const denied = await play([[call("look"), breathe()], "bye"], {}, [], () => ({ decision: "deny", reason: "no" }));
    expect(denied.begun).toEqual([]);
    const schema = { type: "object", properties: { at: { type: "string" } }, required: ["at"] } as const;
    const misfit = await play([[call("look"), breathe()], "bye"], { input: schema });
    expect(misfit.begun).toEqual([]);
    expect(misfit.calls[0]?.status).toBe("failed");
  });

  test("is thrown away when the answer breaks off, and again for the new one", async () => {
    const { begun, calls } = await play([[call("look"), breathe(), cut()], [call("look"), breathe()], "bye"]);
    expect(begun).toEqual(["call_1 before the end", "call_2 before the end"]);
    expect(calls.map(({ id, output }) => [id, output])).toEqual([["call_2", "call_2 found"]]);
  });

  test("is thrown away when the message is cut by the output limit", async () => {
    const { calls } = await play([[call("look"), breathe(), end("length")], "bye"]);
    expect(calls[0]?.output).toMatch(/^Not executed: your message was cut off/);
  });

  test("B32: waits for a follower's work with its message", async () => {
    const done: string[] = [];
    const listen: Tool = {
      name: "listen",
      description: "Listens.",
      input: { type: "object" },
      effects: "none",
      execute: (_, { follow }) => follow({ completed: () => void done.push("applied") }),
    };
    const { calls } = await play(
      [[call("listen")], [text("Write this."), call("look"), breathe()], "bye"],
      { execute: () => `after what was ${done.join()}` },
      [listen],
    );
    expect(calls.at(-1)?.output).toBe("after what was applied");
  });

  test("is not begun where no tool can be used any more", async () => {
    const session = Session.inMemory();
    const begun: string[] = [];
    const model = scriptedModel(() => [call("look"), breathe()]);
    const agent = new Agent({ model, tools: [looking(begun, session)], limits: { steps: 1 } });
    await agent.send("Go", { session });
    expect(begun).toEqual(["call_1 before the end"]);
    expect(model.asked).toBe(2);
  });

  test("with an error has the error as its result", async () => {
    const { calls } = await play([[call("look"), breathe()], "bye"], {
      execute: () => Promise.reject(new Error("nothing there")),
    });
    expect(calls[0]).toMatchObject({ status: "failed", output: "The tool failed: nothing there" });
  });

  test("a tool with effects cannot be eager", async () => {
    await expect(play(["hi"], { effects: "external" })).rejects.toThrow(/eager and has effects/);
  });

  test("B22: that a user interrupts ends with the interrupt", async () => {
    const session = Session.inMemory();
    let ended = false;
    const look: Tool = {
      ...looking([], session),
      execute: async (_, { signal }) => {
        const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
        await session.say([{ type: "text", text: "Stop that." }], { delivery: "interrupt" });
        await aborted;
        ended = true;
      },
    };
    const agent = new Agent({ model: scriptedModel([[call("look"), breathe(), text("hm")], "bye"]), tools: [look] });
    await collect(agent.chat(say("Go"), { session }));
    expect(ended).toBe(true);
    expect(pathTo(session.state, session.state.leaf).map(textOf)).toEqual(["Go", "", "Stop that.", "bye"]);
  });
});
